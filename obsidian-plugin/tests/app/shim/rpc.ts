/** The page's line to the Node server that holds the disk, the network and the processes. */

export interface Stat {
  path: string;
  folder: boolean;
  ctime: number;
  mtime: number;
  size: number;
}

const token = new URLSearchParams(location.search).get("token") ?? "";

export async function rpc<T>(method: string, ...args: unknown[]): Promise<T> {
  const answer = await fetch(`/rpc?token=${token}`, { method: "POST", body: JSON.stringify({ method, args }) });
  const body = (await answer.json()) as { value?: T; error?: string };
  if (body.error !== undefined) throw new Error(body.error);
  return body.value as T;
}

type Heard = (event: { kind: string; [key: string]: unknown }) => void;
const heard = new Set<Heard>();

export function listen(tell: Heard): void {
  heard.add(tell);
}

export function connect(): Promise<void> {
  const source = new EventSource(`/events?token=${token}`);
  source.onmessage = (message) => {
    const event = JSON.parse(message.data as string) as { kind: string };
    for (const tell of heard) tell(event);
  };
  return new Promise((resolve) => (source.onopen = () => resolve()));
}
