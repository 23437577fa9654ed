/** A value that tells when it changes. */
export class Signal<T> {
  private readonly told = new Set<(value: T) => void>();

  constructor(private current: T) {}

  get value(): T {
    return this.current;
  }

  set(value: T): void {
    this.current = value;
    for (const tell of [...this.told]) tell(value);
  }

  /** Returns what ends it, for `Component.register`. */
  on(tell: (value: T) => void): () => void {
    this.told.add(tell);
    return () => this.told.delete(tell);
  }
}
