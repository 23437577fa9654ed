import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

const PLACES = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
  "C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe",
];

/** A Chromium of this machine; on a bare Debian, where we may, it is installed. */
export async function findBrowser(): Promise<string> {
  const named = process.env["OMK_BROWSER"];
  if (named !== undefined && named !== "") return named;
  const there = (): string | undefined => PLACES.find((place) => existsSync(place));
  const found = there();
  if (found !== undefined) return Promise.resolve(found);
  if (existsSync("/usr/bin/apt-get") && process.getuid?.() === 0) {
    console.log("Chromium is installed from Debian's packages, with a font for Chinese.");
    execFileSync("apt-get", ["update", "-qq"], { stdio: "inherit" });
    execFileSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "chromium", "fonts-noto-cjk"], {
      stdio: "inherit",
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
    const now = there();
    if (now !== undefined) return now;
  }
  throw new Error("The scenarios need a Chromium or Chrome: install one, or name it with OMK_BROWSER=/path/to/it");
}
