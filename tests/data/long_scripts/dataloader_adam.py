import copy
import time

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split
from tqdm import tqdm

# ---- configuration ----
SEED = 17
BATCH_SIZE = 8
EPOCHS = 3
torch.manual_seed(SEED)
device = "cuda" if torch.cuda.is_available() else "cpu"


class Parabola(Dataset):
    """Noisy samples of y = 2 x1^2 - x2."""

    def __init__(self, n):
        self.x = torch.rand(n, 2) * 2 - 1
        self.y = 2 * self.x[:, :1] ** 2 - self.x[:, 1:] + 0.01 * torch.randn(n, 1)

    def __len__(self):
        return self.x.shape[0]

    def __getitem__(self, idx):
        return self.x[idx], self.y[idx]


class Regressor(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.head(self.body(x))


def train_one_epoch(model, loader, criterion, optimizer, epoch):
    model.train()
    running, seen = 0.0, 0
    for i, (xb, yb) in enumerate(tqdm(loader, desc=f"epoch {epoch}", leave=False)):
        xb, yb = xb.to(device), yb.to(device)
        optimizer.zero_grad()
        pred = model(xb)
        loss = criterion(pred, yb)
        loss.backward()
        optimizer.step()
        running += loss.item() * xb.size(0)
        seen += xb.size(0)
        if epoch == 0 and i < 2:
            print(f"    batch {i}: loss {loss.item():.4f}, grad norm {model.head.weight.grad.norm().item():.4f}")
    return running / seen


@torch.no_grad()
def evaluate(model, loader, criterion):
    model.eval()
    total = 0.0
    for xb, yb in loader:
        total += criterion(model(xb.to(device)), yb.to(device)).item() * len(xb)
    return total / len(loader.dataset)


dataset = Parabola(44)
train_set, val_set = random_split(dataset, [32, 12])
print(len(dataset), len(train_set), len(val_set), dataset[0][0].shape)
train_loader = DataLoader(train_set, batch_size=BATCH_SIZE, shuffle=True)
val_loader = DataLoader(val_set, batch_size=BATCH_SIZE)
print("batches:", len(train_loader), len(val_loader))

model = Regressor().to(device)
print(model)
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.1)
before = evaluate(model, val_loader, criterion)
print(f"validation loss before training: {before:.4f}")

best_loss, best_state, log = float("inf"), None, []
start = time.time()
for epoch in range(EPOCHS):
    train_loss = train_one_epoch(model, train_loader, criterion, optimizer, epoch)
    val_loss = evaluate(model, val_loader, criterion)
    scheduler.step()
    log.append({"epoch": epoch, "train": round(train_loss, 3), "val": round(val_loss, 3)})
    lr = optimizer.param_groups[0]["lr"]
    print(f"Epoch {epoch + 1}/{EPOCHS} - train {train_loss:.3f} - val {val_loss:.3f} - lr {lr:.0e}")
    if val_loss < best_loss:
        best_loss = val_loss
        best_state = copy.deepcopy(model.state_dict())
elapsed = time.time() - start
print(f"took under a minute: {elapsed < 60}")
model.load_state_dict(best_state)
print(f"restored: {abs(evaluate(model, val_loader, criterion) - best_loss) < 1e-6}, improved: {best_loss < before}")
print([entry["epoch"] for entry in log], sorted(log[0]))

plain = DataLoader(TensorDataset(torch.arange(6.0)), batch_size=4)
print([batch[0].tolist() for batch in plain])
x = torch.tensor([[0.5, 0.5]], requires_grad=True)
model(x).backward()
print("slope with respect to the input:", tuple(x.grad.shape), bool((x.grad != 0).any()))
