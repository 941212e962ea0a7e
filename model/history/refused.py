"""What a person can set right: each is one clear line, and nothing was written."""


class Refused(Exception):
    """The training of a site cannot begin or go on as asked."""


class AccessRefused(Refused):
    """An address or a combination of credentials that cannot be meant."""


class PlanRefused(Refused):
    """No plan can be made, or the one on disk cannot be used."""


class TooLittle(Refused):
    """Not enough past to train on: how much there is, and what was left out."""
