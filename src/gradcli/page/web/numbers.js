// Numbers as they are read: six digits, as in the terminal.

const DIGITS = 6;

/** Return a number in short: 26, 0.197375, 1e-07, nan. */
export function short(value, digits = DIGITS) {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (value === 0) return "0";
  const rounded = Number(value.toPrecision(digits));
  const size = Math.abs(rounded);
  if (size >= 1e-4 && size < 10 ** Math.max(digits, 6)) return String(rounded);
  return rounded.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}

/** Return an array as nested brackets; of a long one the first and the last entries. */
export function arrayText({shape, data}, digits = DIGITS, most = 6) {
  if (!shape.length) return short(data[0], digits);
  const [length, ...rest] = shape;
  const step = length ? data.length / length : 0;
  const part = (k) => arrayText({shape: rest, data: data.slice(k * step, (k + 1) * step)}, digits, most);
  const places = Array.from({length: Math.min(length, most)}, (_, k) => k);
  const texts = length <= most ? places.map(part) : [part(0), part(1), part(2), "…", part(length - 1)];
  return `[${texts.join(", ")}]`;
}

/** Return the shape as Python writes it: (2,), (2, 3), (). */
export function shapeText(shape) {
  return shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;
}

/** Return a number of things with commas: 4,000,000. */
export const counted = (count) => count.toLocaleString("en-US");
