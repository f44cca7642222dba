"""Custom autograd functions: softplus with beta, an exponential with its result saved, a linear map; gradcheck for each."""
import torch
from torch.autograd import Function, gradcheck, gradgradcheck


class SoftPlus(Function):
    @staticmethod
    def forward(ctx, x, beta=1.0):
        ctx.save_for_backward(x)
        ctx.beta = beta
        return torch.log1p(torch.exp(beta * x)) / beta

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad_x = None
        if ctx.needs_input_grad[0]:
            grad_x = grad_output * torch.sigmoid(ctx.beta * x)
        return grad_x, None


class Exp(Function):
    @staticmethod
    def forward(ctx, i):
        result = i.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        result, = ctx.saved_tensors
        return grad_output * result


class LinearFunction(Function):
    @staticmethod
    def forward(ctx, input, weight, bias=None):
        ctx.save_for_backward(input, weight, bias)
        output = input.mm(weight.t())
        if bias is not None:
            output += bias.unsqueeze(0).expand_as(output)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        input, weight, bias = ctx.saved_tensors
        grad_input = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output.mm(weight)
        if ctx.needs_input_grad[1]:
            grad_weight = grad_output.t().mm(input)
        if bias is not None and ctx.needs_input_grad[2]:
            grad_bias = grad_output.sum(0)
        return grad_input, grad_weight, grad_bias


class WrongSquare(Function):
    """The factor two is missing."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 2

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * x


def check(name, fn, inputs):
    try:
        ok = gradcheck(fn, inputs, eps=1e-6, atol=1e-4)
        print(f"{name:<12} ok: {ok}")
    except RuntimeError as e:
        first = str(e).splitlines()[0]
        print(f"{name:<12} failed: {first[:60]}")


torch.manual_seed(0)
x = torch.randn(5, dtype=torch.double, requires_grad=True)
check("SoftPlus", lambda t: SoftPlus.apply(t, 2.0), (x,))
check("Exp", Exp.apply, (x,))
inp = torch.randn(4, 3, dtype=torch.double, requires_grad=True)
weight = torch.randn(2, 3, dtype=torch.double, requires_grad=True)
bias = torch.randn(2, dtype=torch.double, requires_grad=True)
check("Linear", LinearFunction.apply, (inp, weight, bias))
check("Linear none", LinearFunction.apply, (inp, weight))
check("WrongSquare", WrongSquare.apply, (x,))
print("second order of Exp:", gradgradcheck(Exp.apply, (x,)))

# against PyTorch's own
a = torch.tensor([-3.0, -0.5, 0.0, 2.0], requires_grad=True)
ours = SoftPlus.apply(a)
print(ours)
ours.sum().backward()
mine = a.grad.clone()
a.grad.zero_()
torch.nn.functional.softplus(a).sum().backward()
print(mine, a.grad)
print("same:", torch.allclose(mine, a.grad))

# several calls on one graph
y = Exp.apply(a)
g1, = torch.autograd.grad(y.sum(), a, create_graph=True)
g2, = torch.autograd.grad(g1.sum(), a)
print(g1)
print(torch.equal(g1, y), torch.allclose(g2, y))


class Affine(torch.nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(n_out, n_in).uniform_(-0.1, 0.1))
        self.bias = torch.nn.Parameter(torch.zeros(n_out))

    def forward(self, x):
        return LinearFunction.apply(x, self.weight, self.bias)


net = Affine(2, 1)
xs = torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [2.0, -1.0]])
ts = xs @ torch.tensor([[1.5], [-2.0]]) + 0.5
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(50):
    opt.zero_grad()
    loss = ((net(xs) - ts) ** 2).mean()
    loss.backward()
    opt.step()
    if i % 10 == 0:
        print(f"{i:2d} {loss.item():.5f}")
print(net.weight.data, net.bias.data)
try:
    LinearFunction.apply(xs, torch.ones(1, 3))
except RuntimeError as e:
    print("RuntimeError:", e)
