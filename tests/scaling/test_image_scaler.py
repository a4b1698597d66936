import numpy as np
import pytest

import thalweg as tw
from thalweg.scaling import moments

rng = np.random.default_rng(0)
IMAGES = rng.normal(size=(6, 3, 4, 5)) * np.array([1.0, 5.0, 0.1])[:, None, None] + 2.0


def test_by_hand_every_channel_by_its_own_mean_and_deviation():
    Z = tw.scaling.ImageScaler().fit_transform(IMAGES)
    mean = IMAGES.mean(axis=(0, 2, 3), keepdims=True)
    spread = IMAGES.std(axis=(0, 2, 3), keepdims=True)
    np.testing.assert_allclose(Z, (IMAGES - mean) / spread, rtol=1e-12, atol=1e-12)
    assert Z.flags.c_contiguous


@pytest.mark.parametrize("block", [1, 130, 1_000_000])
def test_blocks_change_nothing_and_the_inverse_brings_images_back(block, monkeypatch):
    monkeypatch.setattr(moments, "BLOCK", block)
    scaler = tw.scaling.ImageScaler(tw.scaling.MinMaxScaler((-1, 1))).fit(IMAGES)
    Z = scaler.transform(IMAGES)
    assert Z.min(axis=(0, 2, 3)) == pytest.approx([-1, -1, -1])
    assert Z.max(axis=(0, 2, 3)) == pytest.approx([1, 1, 1])
    np.testing.assert_allclose(scaler.inverse_transform(Z), IMAGES, rtol=1e-12)


def test_bytes_become_float32():
    images = rng.integers(0, 256, (4, 3, 8, 8)).astype(np.uint8)
    images[0, :, 0, 0], images[0, :, 0, 1] = 0, 255
    Z = tw.scaling.ImageScaler(tw.scaling.MinMaxScaler()).fit_transform(images)
    assert Z.dtype == np.float32
    np.testing.assert_array_equal(Z, images.astype(np.float32) / np.float32(255.0))


def test_other_sizes_and_signals_and_layouts():
    scaler = tw.scaling.ImageScaler().fit(IMAGES)
    np.testing.assert_array_equal(
        scaler.transform(IMAGES[:, :, :2]), scaler.transform(IMAGES)[:, :, :2]
    )
    turned = np.moveaxis(np.ascontiguousarray(np.moveaxis(IMAGES, 1, -1)), -1, 1)
    np.testing.assert_array_equal(scaler.transform(turned), scaler.transform(IMAGES))
    signals = tw.scaling.ImageScaler().fit_transform(IMAGES[:, :, 0])
    assert signals.shape == (6, 3, 5)


def test_colours_lose_their_correlation():
    images = IMAGES.copy()
    images[:, 2] += images[:, 1]
    Z = tw.scaling.ImageScaler(tw.scaling.Whitening("zca")).fit_transform(images)
    pixels = np.moveaxis(Z, 1, -1).reshape(-1, 3)
    np.testing.assert_allclose(np.cov(pixels.T, bias=True), np.eye(3), atol=1e-10)


def test_bad_input():
    scaler = tw.scaling.ImageScaler().fit(IMAGES)
    images = IMAGES.copy()
    images[1, 2, 3, 4] = np.nan
    with pytest.raises(tw.InputError, match=r"got nan in image 1, channel 2, at \(3, 4\)"):
        scaler.transform(images)
    with pytest.raises(ValueError, match="2 features, but ImageScaler is expecting 3 features"):
        scaler.transform(IMAGES[:, :2])
    with pytest.raises(tw.InputError, match="X must have 3 channels"):
        scaler.inverse_transform(IMAGES[:, :2])
    with pytest.raises(tw.InputError, match="at least one pixel"):
        scaler.transform(IMAGES[:, :, :0])
    with pytest.raises(tw.InputError, match="scaler must be a transformer of columns, got 'z'"):
        tw.scaling.ImageScaler("z").fit(IMAGES)
