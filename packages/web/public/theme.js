// Sets the chosen theme before anything is painted. The choice is written by src/preferences.ts.
try {
  const theme = JSON.parse(localStorage.getItem("blockyard") ?? "{}").theme;
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {}
