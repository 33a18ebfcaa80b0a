"use strict";
// Keys, buttons, stick and forms become messages; the state comes back. Nothing is asked of other machines.
const page = crypto.randomUUID().replaceAll("-", "");
const HEARTBEAT = 100; // [ms] between two words of a driver; half a second of silence stops the robot
const DEAD_BAND = 0.15; // [-] of a stick
const KEYS = {
  KeyW: ["ahead", 1], ArrowUp: ["ahead", 1], KeyS: ["ahead", -1], ArrowDown: ["ahead", -1],
  KeyA: ["side", 1], KeyD: ["side", -1], KeyQ: ["turn", 1], KeyE: ["turn", -1], ArrowLeft: ["turn", 1], ArrowRight: ["turn", -1],
};
const $ = (id) => document.getElementById(id);
let socket = null, status = {}, wasDriving = false, wantsRun = false, shown = {};
const held = new Map(); // key or button to [direction, sign]

// -- to the robot ---------------------------------------------------------------------------------------------------
function send(message) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}
function stick() {
  const pad = [...(navigator.getGamepads?.() ?? [])].find((one) => one?.connected);
  const axis = (index) => (Math.abs(pad?.axes[index] ?? 0) > DEAD_BAND ? -pad.axes[index] : 0);
  if (pad?.buttons[1]?.pressed) send({ stop: true });
  return { ahead: axis(1), side: axis(0), turn: axis(2) };
}
function deflection() {
  const sum = document.hidden ? { ahead: 0, side: 0, turn: 0 } : stick();
  for (const [direction, sign] of held.values()) sum[direction] += sign;
  const scale = Number($("speed").value);
  return ["ahead", "turn", "side"].map((name) => scale * Math.max(-1, Math.min(1, sum[name])));
}
function drive() { // zero is sent once, at once; others as long as they last
  const values = deflection(), isDriving = values.some((value) => value !== 0);
  if (isDriving || wasDriving) send({ drive: values });
  wasDriving = isDriving;
}
function hold(name, what) {
  if (what) held.set(name, what); else held.delete(name);
  for (const button of document.querySelectorAll("[data-drive]")) {
    const mine = [...held.values()].some(([direction, sign]) => direction === button.dataset.drive && sign === Number(button.dataset.sign));
    button.classList.toggle("held", mine);
  }
  drive();
}
function release() {
  held.clear();
  hold("", null);
}
function stop() {
  release();
  send({ stop: true });
}
setInterval(drive, HEARTBEAT);

// -- keys, also of the picture --------------------------------------------------------------------------------------
function listen(target) {
  const isTyping = (event) => event.target?.matches?.("input:not([type=range]):not([type=checkbox]), select, textarea");
  const onKey = (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || isTyping(event)) return;
    if (event.code === "Space" && event.type === "keydown") stop();
    else if (event.code in KEYS && !event.repeat) hold(event.code, event.type === "keydown" ? KEYS[event.code] : null);
    if (event.code === "Space" || event.code in KEYS) { event.preventDefault(); event.stopImmediatePropagation(); }
  };
  target.addEventListener("keydown", onKey, true);
  target.addEventListener("keyup", (event) => { if (held.has(event.code)) hold(event.code, null); else onKey(event); }, true);
  target.addEventListener("blur", () => setTimeout(() => { if (!document.hasFocus()) release(); }), true);
}
listen(window);
document.addEventListener("visibilitychange", release);
window.addEventListener("pagehide", release);
$("view").addEventListener("load", () => listen($("view").contentWindow));
$("view").src = `/view/${page}/`;
const plots = new Plots(send);

// -- buttons and forms ----------------------------------------------------------------------------------------------
for (const button of document.querySelectorAll("[data-drive]")) {
  const what = [button.dataset.drive, Number(button.dataset.sign)], name = button.title;
  button.addEventListener("pointerdown", (event) => { button.setPointerCapture(event.pointerId); hold(name, what); });
  for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) button.addEventListener(end, () => hold(name, null));
  button.addEventListener("contextmenu", (event) => event.preventDefault());
}
const onClick = (id, act) => $(id).addEventListener("click", act);
onClick("stop", stop);
onClick("freeze", () => { release(); send({ command: ["emergencyStop"] }); });
onClick("take", () => send({ take: true }));
onClick("pause", () => send({ pace: status.pace === 0 ? Number($("pace").value) : 0 }));
onClick("advance", () => send({ advance: 0.1 }));
onClick("reset", () => send({ reset: true }));
onClick("undo", () => send({ undo: true }));
onClick("keep", () => send({ save: "run" }));
onClick("download", () => { wantsRun = true; send({ save: "run" }); });
onClick("replay", () => send({ replay: !status.replays }));
for (const button of document.querySelectorAll("[data-command]")) button.addEventListener("click", () => send({ command: button.dataset.command.split(" ") }));
onClick("anyway", () => send({ command: [...refusedByHealth().split(" "), "anyway"] }));
onClick("save", () => send({ save: "overlay" }));
$("pace").addEventListener("change", () => send({ pace: Number($("pace").value) }));
$("stepping").addEventListener("change", () => send({ command: ["setStepAdaptation", $("stepping").value] }));
const form = (id, act) => $(id).addEventListener("submit", (event) => { event.preventDefault(); act(Object.fromEntries(new FormData($(id)))); });
form("goal", ({ x, y, yaw }) => send({ goal: [Number(x), Number(y), yaw === "" ? null : Number(yaw)] }));
form("velocity", ({ forward, lateral, turn }) => send({ command: ["setGoal", ["velocity", Number(forward), Number(lateral), Number(turn)]] }));
form("choose", (chosen) => send({ choose: chosen }));
form("push", ({ link, force, duration, direction }) =>
  send({ push: { link, force: Number(force), duration: Number(duration), direction: Number(direction) } }));
function showPull({ link, force, is_over }) { // a link in the hand: shown while it is held, asked for when it is let go
  const duration = Number($("push").duration.value), size = Math.hypot(...force);
  $("pull").hidden = is_over;
  $("pull").textContent = `Push ${link}: ${size.toPrecision(3)} N for ${duration} s, ${(size * duration).toPrecision(3)} N·s`;
  if (is_over && status.drives && status.is_simulated && size > 0) send({ push: { link, vector: force, duration } });
}
function showInputs() {
  const { force, duration } = Object.fromEntries(new FormData($("push")));
  $("impulse").value = `${(force * duration).toPrecision(3)} N·s`;
  $("speed-is").value = `${Math.round(100 * $("speed").value)} %`;
}
document.addEventListener("input", showInputs);
showInputs();

// -- from the robot -------------------------------------------------------------------------------------------------
function once(name, value, show) { // redraw what has changed, nothing else: a slider in the hand stays
  const text = JSON.stringify(value);
  if (shown[name] !== text) { shown[name] = text; show(value); }
}
function refusedByHealth() { // the command that the record of the last exercise has refused
  return /^(prepareRobot[^:]*): refused: .*prepareRobot anyway/.exec(status.notice ?? "")?.[1] ?? "";
}
function showWho() {
  const others = (status.viewers ?? 1) - 1, watch = others ? `, ${others} watch${others === 1 ? "es" : ""}` : "";
  $("who").textContent = status.drives ? `You drive${watch}.` : status.is_driven ? "Another page drives, this one watches." : "No page drives.";
}
function show() {
  $("state").textContent = status.state ?? "connecting";
  $("reason").textContent = status.reason && status.reason !== status.state ? `: ${status.reason}` : "";
  $("notice").textContent = status.notice ?? "";
  showWho();
  $("take").hidden = status.drives !== false;
  $("anyway").hidden = !refusedByHealth();
  $("how").textContent = `${status.robot ?? ""}, ${status.how ?? ""}, ${status.time ?? ""} s, pages open: ${status.viewers ?? 0}`;
  $("pause").textContent = status.pace === 0 ? "Go on" : "Pause";
  for (const input of document.querySelectorAll("aside button, aside input, aside select")) if (input.id !== "take") input.disabled = !status.drives;
  for (const part of document.querySelectorAll("[data-for]")) part.hidden = (part.dataset.for === "simulation") !== (status.is_simulated ?? true);
  $("replay").textContent = status.replays ? "Back to now" : "Replay the last 10 s";
  document.body.classList.toggle("replays", Boolean(status.replays));
  once("run", status.run, (run) => { if (run && wantsRun) { wantsRun = false; location.assign("/run.zip"); } });
  once("menu", status.menu, showMenu);
  once("health", status.health, showHealth);
  once("log", status.log, (log = []) => $("log").replaceChildren(...log.map(([time, command, reply]) => line("li", `${time} ${command}`, reply))));
  once("links", status.links, (links = []) => $("push").link.replaceChildren(...["torso", ...links].map((name) => new Option(name, name))));
  once("stepping", status.stepping, (mode) => { $("stepping").value = mode; });
  once("gains", status.gains, showGains);
  once("changed", status.changed, (changed = {}) => {
    const lines = Object.entries(changed).map(([key, value]) => `${key} = ${value}`);
    $("changed").textContent = lines.length ? `changed: ${lines.join("\n")}` : "nothing is changed";
  });
  once("fall", status.diagnosis, (diagnosis = {}) => {
    $("fall").hidden = !diagnosis.cause && !diagnosis.first_sign;
    for (const [id, name] of [["cause", "cause"], ["sign", "first_sign"], ["advice", "advice"]]) $(id).textContent = diagnosis[name] ?? "";
  });
}
function line(kind, text, more) {
  const element = document.createElement(kind);
  element.append(text, Object.assign(document.createElement("small"), { textContent: more ?? "" }));
  return element;
}
function showHealth(health = []) { // [name, whether it is well, in words]
  $("health").replaceChildren(...health.map(([name, isWell, words]) => {
    const row = document.createElement("tr");
    row.className = isWell ? "well" : "ill";
    for (const text of [name, words]) row.append(Object.assign(document.createElement("td"), { textContent: text }));
    return row;
  }));
}
function showMenu(menu = {}) { // name to {value, values}
  const fields = Object.entries(menu).map(([name, { value, values }]) => {
    const select = Object.assign(document.createElement("select"), { name });
    select.append(...values.map((one) => new Option(one, one, one === value, one === value)));
    const label = document.createElement("label");
    label.append(`${name.replaceAll("_", " ")} `, select);
    return label;
  });
  $("choose").replaceChildren(...fields, Object.assign(document.createElement("button"), { textContent: "Walk this" }));
  $("menu").hidden = !fields.length;
}
function showGains(gains = []) {
  for (const gain of gains) {
    let row = $("gains").querySelector(`[data-key="${gain.key}"]`);
    if (!row) {
      row = Object.assign(document.createElement("label"), { className: "gain" });
      row.dataset.key = gain.key;
      row.append(gain.key, document.createElement("output"));
      const slider = Object.assign(document.createElement("input"), { type: "range", min: gain.low, max: gain.high, step: (gain.high - gain.low) / 200 });
      slider.addEventListener("input", () => { row.querySelector("output").value = slider.value; });
      slider.addEventListener("change", () => send({ tune: { key: gain.key, value: Number(slider.value) } }));
      slider.addEventListener("dblclick", () => send({ tune: { key: gain.key, value: null } }));
      row.append(slider);
      $("gains").append(row);
    }
    row.querySelector("input").value = gain.value;
    row.querySelector("output").value = `${Number(gain.value.toPrecision(3))} ${gain.unit}`;
    row.classList.toggle("changed", gain.key in (status.changed ?? {}));
  }
}
let wasOpen = false;
function connect() {
  socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/drive/${page}`);
  socket.addEventListener("open", () => { if (wasOpen) location.reload(); wasOpen = true; }); // another robot, maybe
  socket.addEventListener("message", (event) => {
    const message = JSON.parse(event.data);
    if (plots.take(message)) return;
    if (message.pull) return showPull(message.pull);
    status = message;
    show();
  });
  socket.addEventListener("close", () => {
    release();
    status = { ...status, state: "no connection", reason: "the robot's process has ended, or is being started again", drives: false, is_driven: false };
    show();
    setTimeout(connect, 1000);
  });
}
connect();
