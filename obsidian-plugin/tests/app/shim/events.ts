export interface EventRef {
  off: () => void;
}

export class Events {
  private readonly told = new Map<string, Set<(...data: never[]) => unknown>>();

  on(name: string, callback: (...data: never[]) => unknown, context?: unknown): EventRef {
    const bound = context === undefined ? callback : callback.bind(context);
    const some = this.told.get(name) ?? new Set();
    some.add(bound);
    this.told.set(name, some);
    return { off: () => some.delete(bound) };
  }

  off(name: string, callback: (...data: never[]) => unknown): void {
    this.told.get(name)?.delete(callback);
  }

  offref(ref: EventRef): void {
    ref.off();
  }

  trigger(name: string, ...data: unknown[]): void {
    for (const tell of [...(this.told.get(name) ?? [])]) {
      try {
        (tell as (...data: unknown[]) => unknown)(...data);
      } catch (error) {
        console.error(error);
      }
    }
  }
}

export class Component {
  private loaded = false;
  private readonly children: Component[] = [];
  private readonly ends: (() => unknown)[] = [];

  load(): unknown {
    if (this.loaded) return;
    this.loaded = true;
    const done = this.onload();
    for (const child of this.children) child.load();
    return done;
  }

  onload(): unknown {
    return undefined;
  }

  unload(): void {
    if (!this.loaded) return;
    this.loaded = false;
    for (const child of this.children.splice(0)) child.unload();
    for (const end of this.ends.splice(0)) end();
    this.onunload();
  }

  onunload(): void {}

  addChild<T extends Component>(child: T): T {
    this.children.push(child);
    if (this.loaded) child.load();
    return child;
  }

  removeChild<T extends Component>(child: T): T {
    const index = this.children.indexOf(child);
    if (index >= 0) this.children.splice(index, 1);
    child.unload();
    return child;
  }

  register(end: () => unknown): void {
    this.ends.push(end);
  }

  registerEvent(ref: EventRef): void {
    this.register(() => ref.off());
  }

  registerDomEvent(target: EventTarget, type: string, tell: EventListener, options?: AddEventListenerOptions): void {
    target.addEventListener(type, tell, options);
    this.register(() => target.removeEventListener(type, tell, options));
  }

  registerInterval(id: number): number {
    this.register(() => window.clearInterval(id));
    return id;
  }
}
