import { type App, Modal } from "obsidian";

/** One line of text, by keyboard. */
export class AskModal extends Modal {
  constructor(
    app: App,
    private readonly heading: string,
    private readonly first: string,
    private readonly told: (text: string) => void,
  ) {
    super(app);
  }

  override onOpen(): void {
    this.setTitle(this.heading);
    const input = this.contentEl.createEl("input", { type: "text", cls: "omk-line-input", attr: { "aria-label": this.heading } });
    input.value = this.first;
    input.focus();
    input.select();
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();
      const text = input.value.trim();
      if (text === "") return;
      this.close();
      this.told(text);
    });
  }
}
