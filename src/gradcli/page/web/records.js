// Records of any kind as a table: what the document has beside J.

import {h} from "./dom.js";
import {short} from "./numbers.js";

/** Return nested lists, or a record of any kind, as short text. */
export function nested(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return short(value);
  if (Array.isArray(value))
    return value.length > 12 ? `[${value.slice(0, 3).map(nested).join(", ")}, …]` : `[${value.map(nested).join(", ")}]`;
  if (typeof value === "object")
    return Object.entries(value)
      .map(([key, part]) => `${key}: ${nested(part)}`)
      .join("; ");
  return String(value);
}

/** Return records as a table: a column for each key that any of them fills. */
export function records(list) {
  const keys = [...new Set(list.flatMap((record) => Object.keys(record)))].filter((key) =>
    list.some((record) => nested(record[key]) !== ""),
  );
  return h(
    "div",
    {class: "scroll", role: "region", tabindex: "0", "aria-label": "records"},
    h(
      "table",
      {class: "lines"},
      h("thead", {}, h("tr", {}, ...keys.map((key) => h("th", {scope: "col"}, key)))),
      h(
        "tbody",
        {},
        ...list.map((record) => h("tr", {}, ...keys.map((key) => h("td", {}, h("code", {}, nested(record[key])))))),
      ),
    ),
  );
}
