process.env.OMK_ENTRY = "demo";
await import("./run.mjs");
