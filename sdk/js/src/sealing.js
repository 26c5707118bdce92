// A report on its way through a shuffler: encrypted to the collector, this survey and this key (HPKE, RFC 9180).

import { joined } from "./bytes.js";
import { fromHex } from "./hexadecimal.js";
import { checkedSubtle, sending } from "./hpke.js";

export const SEALED_TYPE = "application/vnd.deniable.sealed";

/** The body of a request to a shuffler: the key, and the report that only the collector can open. */
export async function sealedReport(survey, key, report, subtle = undefined) {
  const info = joined("deniable sealed report", [0], fromHex(survey.hash), fromHex(key));
  const context = await sending(await checkedSubtle(subtle), fromHex(survey.document.shuffle.key), info);
  return joined(fromHex(key), context.encapsulated, await context.seal(fromHex(report)));
}
