/** Where a running sidecar says how it can be reached: `<state>/<key of the vault>/sidecar.json` (docs/PLUGIN.md). */

import { readFile, realpath } from "fs/promises";
import { homedir } from "os";
import { join } from "path";
import { env, platform } from "process";
import { number, object, text } from "../api/decode";

export interface System {
  platform: string;
  env: Record<string, string | undefined>;
  home: string;
}

export function thisSystem(): System {
  return { platform, env, home: homedir() };
}

/** First 16 hex digits of the sha256 of the real path: NFC, with `/`, in lower case on Windows. */
export async function vaultKey(folder: string, platform: string): Promise<string> {
  let path = (await realpath(folder)).normalize("NFC").replaceAll("\\", "/");
  if (platform === "win32") path = path.toLowerCase();
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(path));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("").slice(0, 16);
}

export function stateFolder(system: System): string {
  const { env, home, platform } = system;
  if (env["OHMYKB_HOME"]) return join(env["OHMYKB_HOME"], "state");
  if (platform === "win32") return join(env["LOCALAPPDATA"] ?? join(home, "AppData", "Local"), "oh-my-kb", "State");
  if (platform === "darwin") return join(home, "Library", "Application Support", "oh-my-kb", "state");
  return join(env["XDG_STATE_HOME"] ?? join(home, ".local", "state"), "oh-my-kb");
}

const shape = object({ port: number, pid: number, token: text, api: number, version: text, vault: text });
export type Discovery = ReturnType<typeof shape>;

/** null where no sidecar runs, or the file cannot be understood. */
export async function discover(folder: string, system: System): Promise<Discovery | null> {
  try {
    const key = await vaultKey(folder, system.platform);
    return shape(JSON.parse(await readFile(join(stateFolder(system), key, "sidecar.json"), "utf8")), "");
  } catch {
    return null;
  }
}

/** Where the command may be: the setting alone, or the places installers use, since apps see a shorter PATH. */
export function commands(setting: string, system: System): string[] {
  if (setting.trim()) return [setting.trim()];
  const { env, home, platform } = system;
  if (platform === "win32") {
    return [join(home, ".local", "bin", "kb.exe"), join(home, "pipx", "bin", "kb.exe"), "kb.exe"];
  }
  const folders = [join(home, ".local", "bin"), "/opt/homebrew/bin", "/usr/local/bin", "/usr/bin"];
  const path = (env["PATH"] ?? "").split(":").filter((folder) => folder !== "");
  return [...new Set([...folders, ...path])].map((folder) => join(folder, "kb"));
}
