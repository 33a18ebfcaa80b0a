from pureyarp.network.name_registry import FreeNumbers, PortNumbers


def test_numbers_count_up_and_skip_used_ones():
    numbers = PortNumbers(10002, 19999)
    assert [numbers.take(name, {10003}) for name in ("/a", "/b", "/c")] == [10002, 10004, 10005]


def test_a_name_gets_its_former_number_back_while_nobody_else_has_it():
    numbers = PortNumbers(10002, 19999)
    assert numbers.take("/a", set()) == 10002
    assert numbers.take("/b", set()) == 10003
    assert numbers.take("/a", set()) == 10002
    assert numbers.take("/a", {10002}) == 10004
    assert numbers.take("/a", set()) == 10004


def test_numbers_of_others_are_given_away_only_at_the_end_oldest_first():
    numbers = PortNumbers(1, 3)
    for name in ("/a", "/b", "/c"):
        numbers.take(name, set())
    numbers.take("/a", set())
    assert numbers.take("/d", {3}) == 2
    assert numbers.take("/e", {2}) == 3
    assert numbers.take("/f", {1, 2, 3}) is None
    assert numbers.take("/a", {2, 3}) == 1


def test_freed_numbers_are_taken_again_the_smallest_first():
    numbers = FreeNumbers(1)
    assert [numbers.take() for _ in range(4)] == [1, 2, 3, 4]
    numbers.give_back(3)
    numbers.give_back(2)
    numbers.give_back(0)
    assert [numbers.take() for _ in range(3)] == [2, 3, 5]
