import js from "@eslint/js";

const browser = ["document", "window", "addEventListener", "setTimeout", "clearTimeout", "getComputedStyle", "ResizeObserver"];

export default [
  js.configs.recommended,
  {
    languageOptions: {
      ecmaVersion: 2024,
      sourceType: "module",
      globals: Object.fromEntries(browser.map((name) => [name, "readonly"])),
    },
    rules: {
      complexity: ["error", 18],
      eqeqeq: "error",
      "max-depth": ["error", 4],
      "max-len": ["error", {code: 120}],
      "max-lines": ["error", 300],
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-param-reassign": "error",
      "no-restricted-properties": [
        "error",
        {property: "innerHTML", message: "no text is read as HTML"},
        {property: "outerHTML", message: "no text is read as HTML"},
        {property: "insertAdjacentHTML", message: "no text is read as HTML"},
        {object: "document", property: "write", message: "no text is read as HTML"},
      ],
      "no-restricted-globals": ["error", "fetch", "XMLHttpRequest", "WebSocket", "localStorage"],
      "no-shadow": "error",
      "no-var": "error",
      "prefer-const": "error",
    },
  },
];
