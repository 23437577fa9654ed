/** Small vaults for the scenarios, in both languages. */

export const NOTES: Record<string, string> = {
  "Funding rate.md": "---\naliases: [资金费率]\ntags: [crypto]\n---\n# Funding rate\n\nPaid between longs and shorts of [[Perpetuals]].\n",
  "Perpetuals.md": "# Perpetuals\n\nA swap without an end. See [[Funding rate]].\n\n## Margin\n\nWhat is put up as security.\n",
  "可转债.md": "# 可转债\n\n一种可以转换成股票的债券，到期之前按约定价格转股。\n\n参见 [[Funding rate|资金费率]]。\n",
  "notes/Garden.md": "# Garden\n\nTomatoes want sun. Roses want patience.\n",
  "notes/花园.md": "# 花园\n\n番茄喜欢阳光，玫瑰需要耐心。\n",
};

/** A large vault, made by rule: every note links to two others. */
export function many(count: number): Record<string, string> {
  const words = ["river", "ledger", "garden", "signal", "harbour", "lantern", "资金", "花园", "灯塔", "账本", "河流", "信号"];
  const files: Record<string, string> = {};
  for (let n = 0; n < count; n++) {
    const [a, b, c] = [words[n % 12], words[(n * 7 + 3) % 12], words[(n * 5 + 1) % 12]];
    files[`folder ${n % 50}/Note ${n} ${a}.md`] =
      `---\ntags: [t${n % 90}]\n---\n# Note ${n} ${a}\n\nAbout the ${a} and the ${b}, number ${n}.\n\n` +
      `See [[Note ${(n * 13 + 7) % count} ${words[((n * 13 + 7) % count) % 12]}]] and [[Note ${(n * 31 + 11) % count} ${words[((n * 31 + 11) % count) % 12]}]].\n\n## ${c}\n\nMore on ${c}.\n`;
  }
  return files;
}
