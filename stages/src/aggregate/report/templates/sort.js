// Comfort only: without it the page says the same.
for (const table of document.querySelectorAll("table.sortable")) {
  table.querySelectorAll("thead th").forEach((head, column) => {
    const button = document.createElement("button");
    button.className = "sorting";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const order = button.dataset.order === "down" ? "up" : "down";
      table.querySelectorAll(".sorting").forEach(other => delete other.dataset.order);
      button.dataset.order = order;
      const sign = order === "down" ? -1 : 1;
      const key = row => row.cells[column]?.dataset.key ?? row.cells[column]?.textContent.trim() ?? "";
      const compare = (a, b) => {
        const [x, y] = [key(a), key(b)];
        const [n, m] = [Number.parseFloat(x), Number.parseFloat(y)];
        if (Number.isNaN(n) !== Number.isNaN(m)) return Number.isNaN(n) ? 1 : -1;
        return sign * (Number.isNaN(n) ? x.localeCompare(y) : n - m);
      };
      const body = table.tBodies[0];
      body.append(...[...body.rows].sort(compare));
    });
  });
}
const cases = document.getElementById("worst-list");
if (cases) {
  const filter = document.createElement("input");
  filter.className = "filter";
  filter.type = "search";
  filter.placeholder = "Only cases that contain …";
  filter.setAttribute("aria-label", "Only cases that contain");
  filter.addEventListener("input", () => {
    const wanted = filter.value.toLowerCase();
    for (const entry of cases.children) entry.hidden = !entry.textContent.toLowerCase().includes(wanted);
  });
  cases.before(filter);
}
