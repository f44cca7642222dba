"""Activations, losses and layers."""

import numpy as np
from mpmath import mp

from records import constants as c
from records import mathematics as m
from records.record import record

record(
    "sigmoid",
    definition=m.sigmoid,
    derivatives=(lambda x: m.s(x) * m.s(-x),),
    further=[([[-30.0, -2.0, 2.0, 5.0]], {})],
)

record("relu", definition=lambda x: m.larger(x, mp.mpc(0)), straight=True, kink=([0.0, 1.0], [1.0, -2.0]))

record(
    "logsigmoid",
    definition=lambda x: mp.log(m.sigmoid(x)),
    derivatives=(lambda x: m.s(-x),),
    further=[([[-30.0, -5.0, 5.0, 30.0]], {})],
)

record(
    "silu",
    definition=lambda x: x * m.sigmoid(x),
    derivatives=(lambda x: m.s(x) + x * m.s(x) * m.s(-x),),
    further=[([[-30.0, -5.0, 5.0, 30.0]], {})],
    zeros=[-1.278464542761074, -1.278464542761074, -1.2784645427610735, -1.279],
)

record("softsign", definition=lambda x: x / (1 + m.absolute(x)), derivatives=(lambda x: 1 / (1 + abs(x)) ** 2,))

record(
    "huber",
    definition=lambda d, delta: d * d / 2 if m.above(delta, m.absolute(d)) else delta * (m.absolute(d) - delta / 2),
    derivatives=(
        lambda d, delta: d if abs(d) < delta else delta * mp.sign(d),
        lambda d, delta: mp.mpf(0) if abs(d) < delta else abs(d) - delta,
    ),
    further=[([[-0.9, -0.2, 0.1, 0.7], [0.6, 0.5, 0.4, 0.3]], {})],
    pieces=[([[-3.0, -1.0, -0.5, 0.0, 0.25, 1.0, 2.0]], {"delta": 1.0})],
    hard_pairs=(c.PLANE, c.POSITIVE),
    called=["huber_loss"],
)

record(
    "leaky_relu",
    definition=lambda x, negative_slope: x if m.above(x) else negative_slope * x,
    derivatives=(lambda x, negative_slope: 1 if x > 0 else negative_slope,),
    options=[{"negative_slope": 0.01}, {"negative_slope": 0.3}],
    kink=([0.0, 1.0], [1.0, -2.0]),
    kink_options={"negative_slope": 0.1},
    hard_options=[{"negative_slope": 0.01}],
)

record(
    "elu",
    definition=lambda x, alpha: x if m.above(x) else alpha * (mp.exp(x) - 1),
    derivatives=(lambda x, alpha: 1 if x > 0 else alpha * mp.exp(x),),
    options=[{"alpha": 1.0}, {"alpha": 0.5}],
    kink=([0.0, 1.0], [1.0, -2.0]),
    kink_options={"alpha": 0.5},
    hard_options=[{"alpha": 1.0}, {"alpha": -0.3}],
)

record(
    "softplus",
    definition=m.softplus,
    derivatives=(lambda x, beta, threshold: 1 if x * beta > threshold else m.s(beta * x),),
    options=[{"beta": 1.0, "threshold": 20.0}, {"beta": 3.0, "threshold": 1.0}, {"beta": 0.5, "threshold": np.inf}],
    further=[([[-30.0, -5.0, 5.0, 19.0, 21.0]], {"beta": 1.0, "threshold": 20.0})],
    hard_options=[{"beta": 1.0, "threshold": 20.0}, {"beta": 2.0, "threshold": np.inf}],
)

record(
    "gelu",
    definition=m.gelu,
    derivatives=(m.gelu_slope,),
    value=lambda x, approximate: x * (m.phi(x) if approximate == "none" else m.s(m.bend(x)[0])),
    options=[{"approximate": "none"}, {"approximate": "tanh"}],
    hard_options=[{"approximate": "none"}, {"approximate": "tanh"}],
    zeros=[-0.7517915246935645, -0.7517915246935644, -0.7524614220710163, -0.75246142207101, -0.752, -0.5, -1.1],
)

record("softmax", of_arrays=m.along(lambda line, i: mp.exp(line[i]) / mp.fsum(mp.exp(x) for x in line)), cases=c.ALONG)

record(
    "log_softmax",
    of_arrays=m.along(lambda line, i: mp.log(mp.exp(line[i]) / mp.fsum(mp.exp(x) for x in line))),
    cases=c.ALONG,
)

record(
    "bce",
    definition=lambda x, t: -t * mp.log(x) - (1 - t) * mp.log(1 - x),
    derivatives=(lambda x, t: (x - t) / (x * (1 - x)), lambda x, t: mp.log((1 - x) / x)),
    hard_pairs=(c.CHANCES, c.TARGETS),
    called=["binary_cross_entropy"],
)

record(
    "bce_with_logits",
    definition=lambda x, t: -t * mp.log(m.sigmoid(x)) - (1 - t) * mp.log(1 - m.sigmoid(x)),
    derivatives=(lambda x, t: m.s(x) - t, lambda x, t: -x),
    value=lambda x, t: mp.log1p(mp.exp(x)) - t * x,
    hard_pairs=(c.SCORES, c.TARGETS),
    called=["binary_cross_entropy_with_logits"],
)
