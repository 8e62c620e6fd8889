// Stands behind a program: reads a question, calls the function and writes its answer (see LanguageSpec.harness).
;(function (target) {
  const fs = require("fs"), ANSWER = 3, QUESTION = 4, MAX_DEPTH = 100;

  function parse(text) {
    let at = 0;
    const space = () => { while (" \n\r\t".includes(text[at])) at++; };
    const value = () => {
      space();
      const first = text[at];
      if (first === "[") return list();
      if (first === "{") return object();
      if (first === '"') return string();
      let end = at;
      while (end < text.length && !",]} \n".includes(text[end])) end++;
      const word = text.slice(at, end);
      at = end;
      if (word === "null") return null;
      if (word === "true" || word === "false") return word === "true";
      if (!/^-?\d+$/.test(word)) return Number(word);
      return Number.isSafeInteger(Number(word)) ? Number(word) : BigInt(word);
    };
    const string = () => {
      let end = at + 1;
      while (text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
      const whole = text.slice(at, end + 1);
      at = end + 1;
      return JSON.parse(whole);
    };
    const list = () => {
      const items = [];
      for (at++, space(); text[at] !== "]"; space()) {
        if (text[at] === ",") at++;
        items.push(value());
      }
      at++;
      return items;
    };
    const object = () => {
      const members = {};
      for (at++, space(); text[at] !== "}"; space()) {
        if (text[at] === ",") { at++; space(); }
        const key = string();
        space();
        at++; // the colon
        const item = value();
        Object.defineProperty(members, key, { value: item, writable: true, enumerable: true, configurable: true });
      }
      at++;
      return members;
    };
    return value();
  }

  class Unserialisable extends Error {}

  function encode(value, depth) {
    if (depth > MAX_DEPTH) throw new Unserialisable("the value is nested deeper than " + MAX_DEPTH);
    const tagged = (tag, body) => '{"t":"' + tag + '","v":' + body + "}";
    const list = (items) => "[" + Array.from(items, (item) => encode(item, depth + 1)).join(",") + "]";
    const pairs = (entries) => tagged("dict", "[" + Array.from(entries, (pair) => list(pair)).join(",") + "]");
    switch (typeof value) {
      case "undefined": return "null";
      case "boolean": return String(value);
      case "string": return JSON.stringify(value);
      case "bigint": {
        const magnitude = value < 0 ? -value : value;
        return tagged("int", '"' + (value < 0 ? "-" : "") + magnitude.toString(16) + '"');
      }
      case "number":
        if (Number.isSafeInteger(value)) return String(value + 0 === 0 ? 0 : value);
        if (Number.isNaN(value)) return tagged("float", '"nan"');
        if (!Number.isFinite(value)) return tagged("float", value < 0 ? '"-inf"' : '"inf"');
        return /[.e]/.test(String(value)) ? String(value) : value + ".0";
      case "object":
        if (value === null) return "null";
        if (Array.isArray(value) || value instanceof Set || ArrayBuffer.isView(value)) return list(value);
        if (value instanceof Map) return pairs(value);
        if (value instanceof Number || value instanceof String || value instanceof Boolean)
          return encode(value.valueOf(), depth);
        const kind = Object.getPrototypeOf(value);
        if (kind === null || kind === Object.prototype) return pairs(Object.entries(value));
    }
    throw new Unserialisable("a value of this type cannot leave the box: " + typeof value);
  }

  function send(message, code) {
    const body = Buffer.from(message), head = Buffer.alloc(4);
    head.writeUInt32BE(body.length);
    const frame = Buffer.concat([head, body]);
    for (let sent = 0; sent < frame.length; ) sent += fs.writeSync(ANSWER, frame, sent);
    process.exit(code);
  }

  function fail(error) {
    console.error(error instanceof Error ? error.stack : error);
    const name = JSON.stringify(String((error && error.name) || typeof error).slice(0, 100));
    send('{"k":"raise","type":' + name + ',"memory":false}', 1);
  }

  function answer(value) {
    let body;
    try {
      body = encode(value, 0);
    } catch (error) {
      if (!(error instanceof Unserialisable)) throw error;
      send('{"k":"unserialisable","text":' + JSON.stringify(error.message) + "}", 1);
    }
    send('{"k":"value","v":' + body + ',"n":' + JSON.stringify(question.n) + "}", 0);
  }

  const question = parse(fs.readFileSync(QUESTION, "utf8"));
  try {
    if (typeof target !== "function") throw new ReferenceError("the program does not define CALL_NAME");
    const value = Reflect.apply(target, undefined, question.args);
    if (value && typeof value.then === "function") value.then(answer).catch(fail);
    else answer(value);
  } catch (error) {
    fail(error);
  }
})((function () {
  const method = (kind, name) => {
    if (typeof kind !== "function") return undefined;
    if (kind.prototype && typeof kind.prototype[name] === "function") {
      const made = new kind();
      return (...args) => made[name](...args);
    }
    return typeof kind[name] === "function" ? (...args) => kind[name](...args) : undefined;
  };
  return CALL_TARGET;
})());
