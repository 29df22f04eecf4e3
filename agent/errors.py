"""Errors of the mind.

AgentError
├── ModelError                 the model gave no usable answer
│   ├── ModelUnavailable       no connection, refused, over its rate or budget: another model may do
│   ├── ModelTimeout           no answer within the time allowed
│   └── ModelNonsense          an answer that is no message and no tool call
└── TurnLimit                  the turn came to its limit of steps, seconds or money
"""


class AgentError(Exception):
    """Base of the mind's errors."""


class ModelError(AgentError):
    """The model gave no usable answer."""


class ModelUnavailable(ModelError):
    """The model can't be reached or will not answer now."""


class ModelTimeout(ModelError):
    """The model took too long."""


class ModelNonsense(ModelError):
    """The model's answer can't be read."""


class TurnLimit(AgentError):
    """The turn came to its limit."""
