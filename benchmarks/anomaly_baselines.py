"""The baselines of benchmarks/anomalies.py: thirty plain features and well-known outlier scores."""

import numpy as np


def plain_features(weeks: np.ndarray) -> np.ndarray:
    """Thirty time-series features of every household, (n, 30).

    Parameters
    ----------
    weeks : ndarray, shape (n, weeks, 336)
        kWh; gaps are filled with the household's mean of the slot.
    """
    n = len(weeks)
    x = weeks.astype(np.float64)
    with np.errstate(all="ignore"):
        mean = np.nanmean(x, axis=1, keepdims=True)
    mean = np.where(np.isfinite(mean), mean, np.nanmean(x, axis=(1, 2), keepdims=True))
    observed = np.isfinite(x)
    flat = np.where(observed, x, mean).reshape(n, -1)
    start = observed.any(axis=(0,)).reshape(-1).argmax()
    stop = len(flat[0]) - observed.any(axis=0).reshape(-1)[::-1].argmax()
    slot = np.arange(flat.shape[1])[start:stop] % 336
    flat = flat[:, start:stop]
    mu = flat.mean(axis=1)
    sd = flat.std(axis=1)
    scale = np.maximum(mu, 1e-6)
    z = (flat - mu[:, None]) / np.maximum(sd, 1e-9)[:, None]
    days = flat[:, : flat.shape[1] // 48 * 48].reshape(n, -1, 48)
    full = flat[:, : flat.shape[1] // 336 * 336].reshape(n, -1, 336)

    def acf(lag: int) -> np.ndarray:
        return (z[:, lag:] * z[:, :-lag]).mean(axis=1)

    power = np.abs(np.fft.rfft(z, axis=1)[:, 1:]) ** 2 + 1e-12
    power /= power.sum(axis=1, keepdims=True)
    hour = slot % 48 / 2
    weekday = slot // 48 < 5
    variance = np.maximum(flat.var(axis=1), 1e-12)

    def share(low: float, high: float) -> np.ndarray:
        return flat[:, (hour >= low) & (hour < high)].sum(axis=1) / (scale * flat.shape[1])

    week_mean, week_sd = full.mean(axis=2), full.std(axis=2)
    residual = full - full.mean(axis=1, keepdims=True)
    columns = [
        np.log(scale),
        np.log(np.maximum(sd, 1e-6)),
        sd / scale,
        (z**3).mean(axis=1),
        (z**4).mean(axis=1),
        *(np.quantile(flat, q, axis=1) / scale for q in (0.1, 0.5, 0.9)),
        (flat == 0).mean(axis=1),
        *(acf(lag) for lag in (1, 2, 48, 336)),
        days.mean(axis=1).var(axis=1) / variance,
        full.mean(axis=1).var(axis=1) / variance,
        residual.var(axis=1).var(axis=1) / variance**2,
        days.var(axis=2).var(axis=1) / variance**2,
        days.mean(axis=2).var(axis=1) / variance,
        week_mean.var(axis=1) / variance,
        np.abs(np.diff(week_mean, axis=1)).max(axis=1) / np.sqrt(variance),
        np.abs(np.diff(week_sd, axis=1)).max(axis=1) / np.sqrt(variance),
        np.abs(np.diff(flat > np.median(flat, axis=1, keepdims=True), axis=1)).mean(axis=1),
        np.array([longest_constant_run(row) for row in flat], dtype=float),
        -(power * np.log(power)).sum(axis=1) / np.log(power.shape[1]),
        share(0, 6),
        share(6, 10),
        share(10, 17),
        share(17, 23),
        flat[:, ~weekday].mean(axis=1) / np.maximum(flat[:, weekday].mean(axis=1), 1e-6),
        np.log1p(flat.max(axis=1) / scale),
    ]
    return np.nan_to_num(np.stack(columns, axis=1))


def longest_constant_run(values: np.ndarray) -> int:
    """Return the length of the longest run of equal values."""
    changes = np.flatnonzero(np.diff(values) != 0)
    return int(np.diff(np.concatenate([[-1], changes, [len(values) - 1]])).max())


def slot_distributions(weeks: np.ndarray, bins: int = 20) -> np.ndarray:
    """Each household's distribution of demand at each half-hour of the day, (n, 48 * bins)."""
    days = weeks.reshape(len(weeks), -1, 48)
    edges = np.unique(np.nanquantile(days[:, ::3], np.arange(1, bins) / bins))
    code = np.searchsorted(edges, days)
    shares = [
        ((code == each) & np.isfinite(days)).sum(axis=1) / np.isfinite(days).sum(axis=1).clip(1)
        for each in range(len(edges) + 1)
    ]
    return np.concatenate(shares, axis=1)


def baseline_scores(weeks: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    """Scores of every household, higher is more anomalous."""
    from sklearn.ensemble import IsolationForest
    from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
    from sklearn.preprocessing import StandardScaler

    features = StandardScaler().fit_transform(plain_features(weeks))
    lof = LocalOutlierFactor(n_neighbors=20).fit(features)
    forest = IsolationForest(n_estimators=200, random_state=seed).fit(features)
    distances = NearestNeighbors(n_neighbors=20).fit(features).kneighbors()[0]
    # The stray gap: the distance to the neighbour after the largest gap between neighbours.
    gaps = np.diff(distances, axis=1, prepend=0.0)
    stray = distances[np.arange(len(gaps)), gaps.argmax(axis=1)]
    vectors = slot_distributions(weeks)
    on_vectors = IsolationForest(n_estimators=200, random_state=seed).fit(vectors)
    return {
        "features + LOF": -lof.negative_outlier_factor_,
        "features + Isolation Forest": -forest.score_samples(features),
        "features + ECOD": ecod(features),
        "features + stray gap": stray,
        "vectors + Isolation Forest": -on_vectors.score_samples(vectors),
    }


def ecod(features: np.ndarray) -> np.ndarray:
    """Empirical-cumulative outlier score of Li et al. (2022): summed tail surprise of columns."""
    n = len(features)
    left = np.array([np.searchsorted(np.sort(c), c, side="right") for c in features.T]) / n
    right = np.array([np.searchsorted(np.sort(-c), -c, side="right") for c in features.T]) / n
    u_left, u_right = -np.log(left), -np.log(right)
    skewed = (((features - features.mean(axis=0)) ** 3).mean(axis=0) > 0)[:, None]
    automatic = np.where(skewed, u_right, u_left)
    return np.max([u_left.sum(axis=0), u_right.sum(axis=0), automatic.sum(axis=0)], axis=0)
