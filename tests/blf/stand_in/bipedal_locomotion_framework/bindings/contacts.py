"""Planned contacts and their phases."""

import itertools
from types import SimpleNamespace


class ContactList:
    def __init__(self):
        self._contacts, self._name = [], ""

    def set_default_name(self, default_name):
        self._name = default_name

    def add_contact(self, transform, activation_time, deactivation_time):
        if self._contacts and activation_time <= self._contacts[-1].deactivation_time:
            return False
        self._contacts.append(
            SimpleNamespace(
                name=self._name, pose=transform, activation_time=activation_time, deactivation_time=deactivation_time
            )
        )
        return True

    def __iter__(self):
        return iter(self._contacts)


class ContactPhaseList:
    def __init__(self, lists):
        self.lists = lists
        ends = {t for each in lists.values() for c in each for t in (c.activation_time, c.deactivation_time)}
        times = sorted(ends)
        self._phases = [
            SimpleNamespace(
                begin_time=begin,
                end_time=end,
                active_contacts={
                    name: contact
                    for name, each in lists.items()
                    for contact in each
                    if contact.activation_time <= begin and end <= contact.deactivation_time
                },
            )
            for begin, end in itertools.pairwise(times)
        ]

    def size(self):
        return len(self._phases)

    def __getitem__(self, index):
        return self._phases[index]
