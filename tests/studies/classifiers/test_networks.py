"""ReLU networks and quadratic models: proved boxes, exact radii and rho."""

from __future__ import annotations

import math
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from deniable.errors import InvalidParameter, NotSupported
from deniable.studies import (
    Box,
    Feature,
    Quadratic,
    QuadraticRegion,
    network_radius,
    perturbations,
    product_law,
    proved_box,
    read_network,
    utility,
)
from deniable.studies.classifiers.networks import network_box
from deniable.studies.classifiers.quadratic import quadratic_region

from .every_output import brute

torch = pytest.importorskip("torch")
nn = torch.nn
torch.set_num_threads(1)  # tiny layers: waiting for each other costs threads more than they gain
SOURCE = np.random.Generator(np.random.PCG64(3))


def printed_network() -> Any:
    """The network of E.2.1, as printed."""
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2)).double()
    with torch.no_grad():
        net[0].weight.copy_(torch.tensor([[-1.86, -2.09], [0.12, -0.46]], dtype=torch.float64))
        net[0].bias.copy_(torch.tensor([3.71, -0.08], dtype=torch.float64))
        net[2].weight.copy_(torch.tensor([[-3.05, 0.40], [4.02, -0.22]], dtype=torch.float64))
        net[2].bias.copy_(torch.tensor([0.94, -0.58], dtype=torch.float64))
    return net


def random_network(*sizes: int, single: bool = True) -> Any:
    layers: list[Any] = []
    for inputs, outputs in pairwise(sizes):
        layer = nn.Linear(inputs, outputs)
        with torch.no_grad():
            layer.weight.copy_(torch.from_numpy(SOURCE.normal(size=(outputs, inputs)) / math.sqrt(inputs)))
            layer.bias.copy_(torch.from_numpy(SOURCE.normal(size=outputs) / 2))
        layers += [layer, nn.ReLU()]
    net = nn.Sequential(*layers[:-1])
    return net if single else net.double()


def test_the_radius_of_the_printed_network() -> None:
    network = read_network(printed_network(), [0.5, 0.5], [0, 1])
    assert network.target == 1  # its second class
    assert network_radius(network, [0, 0], [1, 1]) == pytest.approx(0.384812, abs=1e-6)
    box = network_box(network, [0, 0], [1, 1], side_steps=2)
    assert 0.3848 < box.radius <= 0.3848120
    assert not network.holds_in(Box((0.5 - 0.38482,) * 2, (0.5 + 0.38482,) * 2))


@pytest.mark.parametrize("sizes", [(3, 8, 2), (4, 6, 6, 3)], ids=str)
def test_a_proved_box_is_inside_the_exact_radius_and_holds(sizes: tuple[int, ...]) -> None:
    net = random_network(*sizes)
    record = SOURCE.random(sizes[0])
    network = read_network(net, record, range(sizes[0]))
    low, high = [0.0] * sizes[0], [1.0] * sizes[0]
    exact = network_radius(network, low, high)
    box = network_box(network, low, high, radius_steps=12, side_steps=2, parts=64)
    assert box.box is not None
    assert box.radius <= exact + 1e-6
    points = SOURCE.uniform(box.box.low, box.box.high, (20_000, sizes[0])).astype(np.float32)
    with torch.no_grad():
        assert bool((net(torch.from_numpy(points)).argmax(1) == network.target).all())


def test_cutting_a_box_proves_more() -> None:
    network = read_network(random_network(3, 20, 20, 2), SOURCE.random(3), [0, 1, 2])
    radii = [network_box(network, [-1] * 3, [2] * 3, parts=parts, radius_steps=14, side_steps=0).radius for parts in (1, 64, 4096)]
    assert radii[0] < radii[1] < radii[2]


def test_layers_of_images_are_bounded() -> None:
    torch.manual_seed(1)
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(4, 4, 2),
        nn.ReLU(),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(4, 3),
    ).eval()
    image = SOURCE.random((1, 7, 7))
    network = read_network(net, image, [8, 9, 10, 24, 25])
    with torch.no_grad():
        ours = network.scores([image.reshape(-1)[[8, 9, 10, 24, 25]]])[0]
        assert ours == pytest.approx(net(torch.from_numpy(image[None]).float())[0].numpy(), abs=1e-5)
    box = network_box(network, [0] * 5, [1] * 5, parts=8, radius_steps=8, side_steps=1)
    assert box.box is not None
    rows = np.repeat(image.reshape(1, -1), 2000, axis=0)
    rows[:, [8, 9, 10, 24, 25]] = SOURCE.uniform(box.box.low, box.box.high, (2000, 5))
    with torch.no_grad():
        answers = net(torch.from_numpy(rows.reshape(-1, 1, 7, 7)).float()).argmax(1)
    assert bool((answers == network.target).all())


def test_a_tie_within_rounding_is_not_proved() -> None:
    """Scores that differ by less than single precision can tell: no box, however small, is proved."""
    net = nn.Sequential(nn.Linear(1, 2))
    with torch.no_grad():
        net[0].weight.copy_(torch.tensor([[1.0], [1.0]]))
        net[0].bias.copy_(torch.tensor([0.0, 1e-8]))
    network = read_network(net, [0.5], [0], same_as=1)
    assert not network.holds_in(Box((0.5,), (0.5,)))
    assert read_network(net.double(), [0.5], [0], same_as=1).holds_in(Box((0.5,), (0.5,)))


def test_networks_that_cannot_be_read_are_refused() -> None:
    with pytest.raises(NotSupported, match="Tanh"):
        read_network(nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 2)), [0, 0], [0])
    with pytest.raises(NotSupported, match="end in a Linear"):
        read_network(nn.Sequential(nn.Linear(2, 2), nn.ReLU()), [0, 0], [0])
    with pytest.raises(InvalidParameter, match="sensitive"):
        read_network(printed_network(), [0, 0], [2])
    with pytest.raises(InvalidParameter, match="finite"):
        read_network(printed_network(), [0, math.inf], [0])
    images = nn.Sequential(nn.Conv2d(1, 1, 2), nn.Flatten(), nn.Linear(4, 2))
    with pytest.raises(NotSupported, match="Linear and ReLU"):
        network_radius(read_network(images, np.zeros((1, 3, 3)), [0]), [0], [1])


def example_14() -> Quadratic:
    """The lead of the first class: h1 - h2 as printed."""
    return Quadratic(-0.25 * np.eye(2), np.array([-0.5, -0.5]), 0.5 + math.log(2))


def test_the_circle_of_example_14() -> None:
    radius = 2 * math.sqrt(math.log(2) + 1)  # around (-1, -1)
    assert QuadraticRegion((example_14(),)).radius([0.5, 0.5]) == pytest.approx(radius / math.sqrt(2) - 1.5, abs=1e-12)


def test_the_least_value_in_a_box_is_the_least_of_a_fine_grid() -> None:
    for _ in range(40):
        matrix = SOURCE.normal(size=(2, 2))
        face = Quadratic(matrix + matrix.T, SOURCE.normal(size=2), float(SOURCE.normal()))
        low = SOURCE.uniform(-1, 0.5, 2)
        high = low + SOURCE.random(2)
        grid = np.array(list(product(*(np.linspace(a, b, 41) for a, b in zip(low, high, strict=True)))))
        values = np.einsum("ni,ij,nj->n", grid, face.matrix, grid) + grid @ face.linear + face.constant
        least = face.least(low, high)
        assert least <= values.min() + 1e-12
        assert least >= values.min() - 0.02


def test_the_bound_in_three_dimensions_is_below_every_value() -> None:
    for _ in range(20):
        matrix = SOURCE.normal(size=(3, 3))
        face = Quadratic(matrix, SOURCE.normal(size=3), 0.0)
        low = SOURCE.uniform(-1, 0.5, 3)
        high = low + SOURCE.random(3)
        points = SOURCE.uniform(low, high, (500, 3))
        values = np.einsum("ni,ij,nj->n", points, face.matrix, points) + points @ face.linear
        assert face.least(low, high) <= values.min()


ROWS = SOURCE.normal(size=(300, 4)) * [1, 2, 1, 1]
LABELS = np.digitize(ROWS[:, 0] ** 2 + ROWS[:, 1] * ROWS[:, 2] / 4, [0.5, 1.5])


@pytest.mark.parametrize("labels", [(LABELS > 0).astype(int), LABELS], ids=["two classes", "three classes"])
@pytest.mark.parametrize(
    "model",
    [QuadraticDiscriminantAnalysis(), GaussianNB(), make_pipeline(StandardScaler(), QuadraticDiscriminantAnalysis())],
    ids=["QDA", "naive Bayes", "scaled QDA"],
)
@pytest.mark.parametrize("sensitive", [[0], [1, 0]], ids=str)
def test_rho_of_quadratic_models_is_the_sum_over_all_outputs(model: Any, labels: Any, sensitive: list[int]) -> None:
    model.fit(ROWS, labels)
    for record in ROWS[:4].clip(-2.9, 2.9):
        law = product_law(perturbations("k-rr", [Feature(-3, 3, 31)] * len(sensitive), 2), [float(record[c]) for c in sensitive])
        region = quadratic_region(model, record, sensitive)
        assert utility(region, law).value == pytest.approx(brute(model, record, sensitive, law), abs=1e-9)
        box = proved_box(region.holds_in, [float(record[c]) for c in sensitive], [-3] * len(sensitive), [3] * len(sensitive))
        assert box.box is not None
        assert utility(box.box, law).lower <= utility(region, law).value + 1e-12


def test_what_is_not_quadratic_is_refused() -> None:
    with pytest.raises(NotSupported, match="not QDA"):
        quadratic_region(LogisticRegression().fit(ROWS, LABELS), ROWS[0], [0])
    with pytest.raises(InvalidParameter, match="does not get"):
        QuadraticRegion((example_14(),)).radius([5, 5])
    law = product_law(perturbations("k-rr", [Feature(-3, 3, 5)] * 3, 2), [0.0, 0.0, 0.0])
    with pytest.raises(NotSupported, match="one or two"):
        utility(quadratic_region(GaussianNB().fit(ROWS, LABELS), ROWS[0], [0, 1, 2]), law)
