"use strict";
// Plots of signals over time: the page chooses which; a point comes ten times a second, the last minute is kept.
const KEPT = 60, WINDOW = 15; // [s]
const INKS = ["#1f6feb", "#d62778", "#2b8a3e", "#c27c0e", "#6f42c1", "#0b7285", "#a61e4d", "#5c6b7a"];
const SETS = { // title to patterns of the columns that are drawn together
  "DCM ahead [m]": ["dcm::position::measured::x", "dcm::position::desired::x"],
  "DCM to the left [m]": ["dcm::position::measured::y", "dcm::position::desired::y"],
  "ZMP ahead [m]": ["zmp::measured::x", "zmp::desired::x"],
  "ZMP to the left [m]": ["zmp::measured::y", "zmp::desired::y"],
  "CoM to the left [m]": ["com::position::measured::y", "com::position::desired::y"],
  "Height of the CoM [m]": ["com::position::measured::z", "com::position::desired::z"],
  "Load of the feet [N]": ["left_foot::linear_force::measured::z", "right_foot::linear_force::measured::z"],
  "Joint torques [N·m]": ["joints_state::torques::measured::*"],
  "Time of a tick [µs]": ["tick::*"],
};
const FIRST = ["DCM to the left [m]", "Load of the feet [N]"];

class Plots {
  constructor(send) {
    this.send = send;
    this.columns = [];  // all signals
    this.sets = new Map(); // of the charts, title to columns
    this.rows = []; // time first, then all columns of all charts
    this.places = new Map(); // column to its number in a row
    this.frozen = null;
    this.wanted = JSON.parse(sessionStorage.getItem("plots") ?? "null") ?? FIRST;
    const get = (id) => document.getElementById(id);
    [this.charts, this.input, this.list, this.hold, this.back] = ["charts", "signal", "signals", "hold", "back"].map(get);
    this.input.addEventListener("change", () => { this.add(this.input.value); this.input.value = ""; });
    this.hold.addEventListener("click", () => this.freeze(this.frozen === null));
    this.back.addEventListener("input", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.charts);
  }
  take(message) { // whether it was for the plots
    if (message.signals) this.name(message.signals);
    else if (message.history) this.begin(message.history);
    else if (message.point) this.append(message.point);
    else return false;
    return true;
  }
  name(columns) {
    this.columns = columns;
    const groups = new Set(columns.map((column) => column.replace(/::[^:]*$/, "::*")));
    this.list.replaceChildren(...[...Object.keys(SETS), ...groups, ...columns].map((text) => new Option(text)));
    const wanted = this.wanted;
    this.sets.clear();
    this.charts.replaceChildren();
    for (const title of wanted) this.add(title, false);
    this.ask();
  }
  matching(title) {
    const patterns = SETS[title] ?? [title];
    const fits = (column) => patterns.some((one) => one === column || (one.endsWith("*") && column.startsWith(one.slice(0, -1))));
    return this.columns.filter(fits);
  }
  add(title, asks = true) {
    const columns = this.matching(title);
    if (!columns.length || this.sets.has(title)) return;
    this.sets.set(title, columns);
    const chart = document.createElement("figure"), caption = document.createElement("figcaption"), close = document.createElement("button");
    chart.dataset.title = title;
    Object.assign(close, { textContent: "×", title: "Remove" });
    close.addEventListener("click", () => { this.sets.delete(title); chart.remove(); this.ask(); });
    caption.append(title, document.createElement("span"), close);
    chart.append(caption, document.createElement("canvas"));
    this.charts.append(chart);
    if (asks) this.ask();
  }
  ask() {
    this.wanted = [...this.sets.keys()];
    sessionStorage.setItem("plots", JSON.stringify(this.wanted));
    this.freeze(false);
    this.send({ plots: [...new Set([...this.sets.values()].flat())] });
  }
  begin({ columns, rows }) {
    this.places = new Map(columns.map((column, index) => [column, index + 1]));
    this.rows = rows;
    this.draw();
  }
  append(point) {
    if (this.rows.length && (point[0] < this.rows.at(-1)[0] || point.length !== this.rows[0].length)) this.rows = [];
    this.rows.push(point);
    while (this.rows[0][0] < point[0] - KEPT) this.rows.shift();
    if (this.frozen === null) this.draw();
  }
  freeze(isFrozen) {
    this.frozen = isFrozen ? [...this.rows] : null;
    this.hold.textContent = isFrozen ? "Go on" : "Freeze";
    this.back.disabled = !isFrozen;
    this.back.value = 0;
    this.draw();
  }
  draw() {
    const rows = this.frozen ?? this.rows, end = (rows.at(-1)?.[0] ?? 0) - Number(this.back.value);
    document.getElementById("back-is").value = `${Number(this.back.value)} s`;
    const shown = rows.filter(([time]) => time >= end - WINDOW && time <= end);
    for (const chart of this.charts.children) this.drawChart(chart, this.sets.get(chart.dataset.title), shown, end);
  }
  drawChart(chart, columns, rows, end) {
    const canvas = chart.querySelector("canvas"), ratio = devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight, left = 44, bottom = 14;
    if (!width) return;
    Object.assign(canvas, { width: width * ratio, height: height * ratio });
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.font = "10px system-ui, sans-serif";
    const places = columns.map((column) => this.places.get(column)).filter((place) => place !== undefined);
    const values = rows.flatMap((row) => places.map((place) => row[place])).filter((value) => value !== null && value !== undefined);
    let low = Math.min(...values), high = Math.max(...values);
    if (!values.length) [low, high] = [0, 1];
    const least = Math.max(1e-5, 1e-3 * Math.max(Math.abs(low), Math.abs(high))); // a robot at rest is no noise
    const margin = Math.max(0.08 * (high - low), 0.5 * (least - (high - low)));
    [low, high] = [low - margin, high + margin];
    const x = (time) => left + ((time - end + WINDOW) / WINDOW) * (width - left - 4);
    const y = (value) => 4 + ((high - value) / (high - low)) * (height - bottom - 4);
    this.drawAxes(pen, { x, y, low, high, left, width, height, bottom, end });
    places.forEach((place, index) => {
      pen.strokeStyle = INKS[index % INKS.length];
      pen.beginPath();
      let isDown = false;
      for (const row of rows) {
        if (row[place] === null || row[place] === undefined) { isDown = false; continue; }
        if (isDown) pen.lineTo(x(row[0]), y(row[place])); else pen.moveTo(x(row[0]), y(row[place]));
        isDown = true;
      }
      pen.stroke();
    });
    this.label(chart, columns, rows);
  }
  drawAxes(pen, { x, y, low, high, left, width, height, bottom, end }) {
    const step = 10 ** Math.floor(Math.log10((high - low) / 2)), ticks = [];
    const stride = (high - low) / step > 10 ? 5 * step : (high - low) / step > 5 ? 2 * step : step;
    const digits = Math.max(0, Math.ceil(-Math.log10(stride) - 1e-9)), first = Math.ceil(low / stride);
    for (let count = first; count * stride <= high; count += 1) ticks.push(count * stride);
    pen.strokeStyle = "#e3e8ee";
    pen.fillStyle = "#5c6b7a";
    pen.textAlign = "right";
    for (const value of ticks) {
      pen.beginPath(); pen.moveTo(left, y(value)); pen.lineTo(width - 4, y(value)); pen.stroke();
      pen.fillText(digits > 4 && value ? value.toExponential(1) : value.toFixed(digits > 4 ? 0 : digits), left - 4, y(value) + 3);
    }
    pen.textAlign = "center";
    for (let time = Math.ceil((end - WINDOW) / 5) * 5; time <= end; time += 5) if (time >= 0) pen.fillText(`${time} s`, Math.max(left + 8, Math.min(width - 14, x(time))), height - 3);
  }
  label(chart, columns, rows) { // the newest value of each line; of many lines none
    const legend = chart.querySelector("figcaption span"), last = rows.at(-1);
    if (columns.length > INKS.length) { legend.textContent = ` ${columns.length} lines`; return; }
    const parts = columns.map((column) => column.split("::"));
    const ends = columns.map((_, index) => parts[index].filter((part, place) => columns.length === 1 ? place === parts[index].length - 1 : parts.some((other) => other[place] !== part)).join(" "));
    legend.replaceChildren(...columns.map((column, index) => {
      const value = last?.[this.places.get(column)];
      const text = `${ends[index]} ${typeof value === "number" ? Number(value.toPrecision(3)) : ""}`;
      return Object.assign(document.createElement("i"), { textContent: text, style: `color:${INKS[index]}` });
    }));
  }
}
