// Draws the plots of a page with BokehJS once they are looked at. One time axis and one cross for all of them.
(async () => {
  if (!("DecompressionStream" in window)) {
    const plots = document.querySelectorAll(".plot"), note = document.createElement("p");
    note.className = "left-out";
    note.textContent = "This browser cannot unpack the plots. Chrome and Edge 80, Safari 16.4, Firefox 113 and later can.";
    plots[0]?.before(note);
    for (const plot of plots) plot.remove();
    return;
  }
  const unpacked = async (element) => {
    const bytes = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
    return await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  for (const packed of document.querySelectorAll(".packed-bundle")) {
    const script = document.createElement("script");
    script.textContent = await unpacked(packed);
    document.head.append(script);
  }
  const page = JSON.parse(await unpacked(document.querySelector(".packed-data")));
  const style = () => getComputedStyle(document.documentElement);
  const ink = (colour) => (colour.startsWith("--") ? style().getPropertyValue(colour).trim() : colour);
  const { figure } = Bokeh.Plotting;
  const models = (name) => Bokeh.Models.get(name);
  const make = (name, attributes) => new (models(name))(attributes);
  const isTouched = matchMedia("(pointer: coarse)").matches;

  const sources = page.runs.map((run) => {
    const bytes = Uint8Array.from(atob(run.data), (c) => c.charCodeAt(0));
    const numbers = new Float32Array(bytes.buffer), count = numbers.length / run.rows;
    const data = {};
    for (let k = 0; k < count; k++) data[k === count - 1 ? "time" : `c${k}`] = numbers.subarray(k * run.rows, (k + 1) * run.rows);
    return make("ColumnDataSource", { data });
  });
  const ends = sources.map(({ data }) => [data.time[0], data.time[data.time.length - 1]]);
  const times = make("Range1d", { start: Math.min(...ends.map((e) => e[0])), end: Math.max(...ends.map((e) => e[1])) });
  const cross = make("Span", { dimension: "height", line_color: ink("--muted"), line_alpha: 0.6 });
  const roots = [], sheet = new Bokeh.Document();
  await Bokeh.embed.add_document_standalone(sheet, document.body, roots);

  const styled = (plot) => {
    const text = { text_color: ink("--muted"), text_font: "inherit" };
    for (const axis of [...plot.left, ...plot.below]) {
      Object.assign(axis, {
        axis_line_color: ink("--rule"), major_tick_line_color: null, minor_tick_line_color: null,
        major_label_text_color: ink("--muted"), major_label_text_font_size: "11px",
        axis_label_text_color: ink("--muted"), axis_label_text_font_size: "11px", axis_label_text_font_style: "normal",
      });
    }
    for (const grid of plot.center) if ("grid_line_color" in grid) grid.grid_line_color = ink("--rule");
    Object.assign(plot.title, { text_color: ink("--muted"), text_font_size: "12px", text_font_style: "normal" });
    Object.assign(plot, { background_fill_color: null, border_fill_color: null, outline_line_color: null });
    plot.toolbar.autohide = true;
    if (isTouched) plot.toolbar.active_drag = null; // a finger scrolls the page
    return plot;
  };

  const overTime = (panel, isLast) => {
    const y_range = panel.shown
      ? make("Range1d", { start: panel.shown[0], end: panel.shown[1] })
      : make("DataRange1d", { only_visible: true, ...(panel.least === null ? {} : { start: panel.least }) });
    const plot = figure({
      title: panel.title, height: panel.height, sizing_mode: "stretch_width", x_range: times, y_range,
      y_axis_type: panel.scale, tools: "xbox_zoom,xpan,xwheel_zoom,reset,save", min_border_left: 58, min_border_right: 10,
    });
    plot.below[0].visible = isLast;
    plot.below[0].axis_label = isLast ? "time [s]" : null;
    background(plot, panel);
    const drawn = panel.lines.map((line) => {
      const glyph = make("Line", {
        x: { field: "time" }, y: { field: `c${line.column}` }, line_color: ink(line.colour),
        line_width: line.dashed ? 1 : 1.5, line_dash: line.dashed ? [5, 3] : [], line_alpha: line.dashed ? 0.8 : 1,
      });
      const renderer = plot.add_glyph(glyph, sources[line.run]);
      renderer.name = line.name;
      return renderer;
    });
    hover(plot, panel, drawn);
    return plot;
  };

  const background = (plot, panel) => {
    const [x0, x1] = panel.shade;
    if (x0.length) {
      const strips = make("VStrip", { x0: { field: "x0" }, x1: { field: "x1" }, fill_color: ink(panel.shade_colour), line_color: null });
      plot.add_glyph(strips, make("ColumnDataSource", { data: { x0, x1 } })).level = "image";
    }
    if (panel.extent) {
      const [low, high] = panel.extent.map((column) => ({ field: `c${column}` }));
      plot.add_glyph(make("VArea", { x: { field: "time" }, y1: low, y2: high, fill_color: ink("--support") }), sources[0]).level = "underlay";
    }
    for (const run of page.runs) {
      for (const [left, right] of run.pushes)
        plot.add_layout(make("BoxAnnotation", { left, right, fill_color: page.push, line_color: page.push, level: "image" }));
      if (run.sign !== null)
        plot.add_layout(make("Span", { location: run.sign, dimension: "height", line_color: page.sign, line_dash: [2, 3] }));
    }
    for (const location of panel.levels)
      plot.add_layout(make("Span", { location, dimension: "width", line_color: page.sign, line_dash: [5, 3] }));
  };

  const hover = (plot, panel, drawn) => {
    plot.add_tools(make("CrosshairTool", { overlay: cross }));
    if (page.runs.length > 1) return readOut(plot, panel);
    const rows = panel.lines.map(({ name, column }) => [name || "value", `@c${column}{0.[0000]}`]);
    const tooltips = [["time", "@time{0.00} s"], ...rows];
    plot.add_tools(make("HoverTool", { renderers: drawn.slice(0, 1), mode: "vline", tooltips }));
  };

  // Boxes of several runs would hide each other: their values stand in the title, each behind the letter of its run.
  const readOut = (plot, panel) => {
    const measured = panel.lines.filter((line) => !line.dashed);
    plot.on_event("mousemove", ({ x }) => {
      const values = measured.map(({ run, column, name }) => {
        const { time, [`c${column}`]: samples } = sources[run].data;
        const place = time.findIndex((t) => t >= x);
        return `${name[0]} ${place < 0 || Number.isNaN(samples[place]) ? "–" : +samples[place].toPrecision(4)}`;
      });
      plot.title.text = `${panel.title}   at ${x.toFixed(2)} s: ${values.join("   ")}`;
    });
    plot.on_event("mouseleave", () => (plot.title.text = panel.title));
  };

  const fromAbove = ({ extent, shapes, paths }, place) => {
    const [[left, right], [low, high]] = extent;
    const height = Math.max(160, Math.min(420, (place.clientWidth * (high - low)) / (right - left) + 60));
    place.style.minHeight = `${height}px`;
    const plot = figure({
      height, sizing_mode: "stretch_width", match_aspect: true, aspect_scale: 1,
      tools: "box_zoom,pan,wheel_zoom,reset,save", min_border_left: 58, min_border_right: 10, title: "y [m]",
    });
    plot.below[0].axis_label = "x [m]";
    for (const { corners, name, colour, dashed } of shapes) {
      const data = { xs: corners.map((c) => c[0]), ys: corners.map((c) => c[1]) };
      const patches = make("Patches", {
        xs: { field: "xs" }, ys: { field: "ys" }, fill_color: colour, fill_alpha: dashed ? 0 : 0.13, line_color: colour,
        line_dash: dashed ? [2, 2] : [],
      });
      plot.add_glyph(patches, make("ColumnDataSource", { data })).name = name;
    }
    for (const { points: [x, y], name, colour } of paths) {
      const line = make("Line", { x: { field: "x" }, y: { field: "y" }, line_color: colour, line_width: 1.5 });
      plot.add_glyph(line, make("ColumnDataSource", { data: { x, y } })).name = name;
    }
    return plot;
  };

  const draw = (place, plot) => {
    const panels = plot.panels
      ? plot.panels.map((panel, k) => overTime(panel, k === plot.panels.length - 1))
      : [fromAbove(plot, place)];
    for (const panel of panels) {
      roots.push(place.appendChild(document.createElement("div")));
      sheet.add_root(styled(panel));
    }
    place.panels = panels;
    for (const box of document.querySelectorAll(".keys input:not(:checked)")) hideOrShow(box);
  };

  const hideOrShow = (box) => {
    const owner = box.closest("figure") ?? document;
    for (const place of owner.querySelectorAll(".plot"))
      for (const panel of place.panels ?? [])
        for (const renderer of panel.renderers) if (renderer.name === box.value) renderer.visible = box.checked;
  };

  const places = [...document.querySelectorAll(".plot")];
  const observer = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      observer.unobserve(target);
      draw(target, page.plots[places.indexOf(target)]);
    }
  }, { rootMargin: "600px" });
  for (const place of places) observer.observe(place);
  for (const box of document.querySelectorAll(".keys input")) box.addEventListener("change", () => hideOrShow(box));
  for (const button of document.querySelectorAll(".play"))
    button.addEventListener("click", () => {
      for (const film of document.querySelectorAll("video")) {
        film.currentTime = 0;
        film.play();
      }
    });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => location.reload());
})();
