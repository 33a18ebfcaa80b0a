"""Contacts over time: lists of one contact each, and the phases between their changes."""

from itertools import pairwise
from types import SimpleNamespace


class PlannedContact:
    def __init__(self):
        self.pose, self.activation_time, self.deactivation_time, self.name = None, None, None, ""


class ContactList:
    def __init__(self):
        self.contacts, self.name = [], ""

    def set_default_name(self, default_name):
        self.name = default_name

    def add_contact(self, transform, activation_time, deactivation_time):
        if activation_time > deactivation_time or (
            self.contacts and activation_time <= self.contacts[-1].deactivation_time
        ):
            return False
        contact = PlannedContact()
        contact.pose, contact.name = transform, self.name
        contact.activation_time, contact.deactivation_time = activation_time, deactivation_time
        self.contacts.append(contact)
        return True

    def __iter__(self):
        return iter(self.contacts)


class ContactPhaseList:
    def __init__(self):
        self.lists, self.phases = {}, []

    def set_lists(self, contact_lists):
        self.lists = contact_lists
        each = [contact for contacts in contact_lists.values() for contact in contacts]
        switches = sorted({time for one in each for time in (one.activation_time, one.deactivation_time)})
        self.phases = [
            SimpleNamespace(
                begin_time=begin,
                end_time=end,
                active_contacts={
                    one.name: one for one in each if one.activation_time <= begin and end <= one.deactivation_time
                },
            )
            for begin, end in pairwise(switches)
        ]
        return bool(each)

    def size(self):
        return len(self.phases)

    def __getitem__(self, index):
        return self.phases[index]
