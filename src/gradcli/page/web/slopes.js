// Whether the formulas of J are those of y here: held against the slopes of y on both sides.

const STEP = 1e-6;
const SLACK = 1e-4;

function isBetween(derivative, left, right, y) {
  if (![derivative, left, right].every(Number.isFinite)) return !Number.isFinite(derivative);
  const largest = Math.max(Math.abs(derivative), Math.abs(left), Math.abs(right));
  const slack = SLACK * largest + 1e-7 * Math.max(1, Math.abs(y));
  return derivative >= Math.min(left, right) - slack && derivative <= Math.max(left, right) + slack;
}

/** Return whether one column of J lies between the slopes of y on both sides of its input. */
function isSlope(answer, jacobian, column) {
  const at = answer.values.get(jacobian.name);
  const x = at.data[column];
  const step = STEP * Math.max(1, Math.abs(x));
  const [below, middle, above] = [x - step, x, x + step].map((moved) => {
    const input = [jacobian.name, {shape: at.shape, data: at.data.with(column, moved)}];
    return answer.forwardAt([...answer.inputsNow(), input]).get(answer.output.name).data;
  });
  const derivatives = new Map(jacobian.inColumn[column].map((k) => [jacobian.rows[k], jacobian.values[k]]));
  return middle.every((y, row) =>
    isBetween(derivatives.get(row) ?? 0, (y - below[row]) / step, (above[row] - y) / step, y),
  );
}

/**
 * Return whether J lies between the slopes of y on both sides of every input.
 *
 * The formulas of J may be those of one piece of the function, such as the largest entry of a maximum: where y moves
 * otherwise, they are not J's any more.
 */
export function slopesAgree(answer) {
  return answer.jacobians.every((jacobian) =>
    jacobian.inColumn.every((_, column) => isSlope(answer, jacobian, column)),
  );
}
