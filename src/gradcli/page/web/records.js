// Records of any kind as a table: what the document has beside J.

import {h} from "./dom.js";
import {short} from "./numbers.js";

const MOST_LISTED = 12;
const NOT_FINITE = new Set(["NaN", "Infinity", "-Infinity"]); // numbers that JSON has no word for

const isRecord = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const isFilled = (value) => value !== null && value !== undefined && value !== false && value !== "";

/** Return nested lists, or a record of any kind, as short text. */
export function nested(value) {
  if (!isFilled(value)) return "";
  if (typeof value === "number" || NOT_FINITE.has(value)) return short(Number(value));
  if (isRecord(value)) {
    const parts = Object.entries(value).filter(([, part]) => isFilled(part));
    return parts.map(([key, part]) => (part === true ? key : `${key}: ${nested(part)}`)).join("; ");
  }
  if (!Array.isArray(value)) return String(value);
  const shown = value.length > MOST_LISTED ? [...value.slice(0, 3).map(nested), "…"] : value.map(nested);
  return `[${shown.join(", ")}]`;
}

/** Return what one field holds: records within it stand below each other. */
function field(value) {
  if (Array.isArray(value) && value.some(isRecord)) {
    return h("ul", {}, ...value.map((record) => h("li", {}, h("code", {}, nested(record)))));
  }
  return h("code", {}, Array.isArray(value) && !value.length ? "" : nested(value));
}

/** Return records as a table: a column for each key that any of them fills. */
export function records(list, label) {
  const isUsed = (value) => isFilled(value) && !(Array.isArray(value) && !value.length);
  const keys = [...new Set(list.flatMap(Object.keys))].filter((key) => list.some((record) => isUsed(record[key])));
  const heads = keys.map((key) => h("th", {scope: "col"}, key));
  const rows = list.map((record) => h("tr", {}, ...keys.map((key) => h("td", {}, field(record[key])))));
  const table = h("table", {class: "records"}, h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...rows));
  return h("div", {class: "scroll", role: "region", tabindex: "0", "aria-label": label}, table);
}
