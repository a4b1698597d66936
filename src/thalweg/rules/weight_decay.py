"""Decoupled weight decay: shrink each weight in proportion to itself, beside the gradient step.

    wₜ = wₜ₋₁ − ηδ wₜ₋₁

η is the learning rate, δ ≥ 0 the decay. Followed by the plain step, with the gradient taken before
the decay, this is gradient descent on f + (δ/2)‖w‖², so the lecture's penalty λ‖w‖² is δ = 2λ: each
step multiplies w by 1 − 2ηλ. With a rule that rescales gradients it is not the same as adding δw to
g: Adam would divide that term by √v̂ too, and so decay most the weights with small gradients.

Loshchilov & Hutter, ICLR 2019.
"""


def weight_decay(w, lr, decay):
    """The decayed weight; apply it before the rule's own step, as AdamW does."""
    return w - lr * decay * w
