"""Where `Feature` was before client and server shared it."""

from gradiva.middleware.control_board.feature import Feature as Feature
