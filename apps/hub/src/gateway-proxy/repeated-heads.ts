/**
 * The heads of an exchange as the other side gets them, worked out once while a connection repeats them: pages poll,
 * and load their files, with the same headers again and again.
 */
import { rememberedFor, type AnswerHead } from '@hedgerow/http'
import { headersFromGateway, headersToGateway, type ForBrowser, type ForGateway } from './headers.ts'
import { requestLines } from './request-head.ts'

/** The header lines for a gateway. Throws `invalid_request` when one can't be written unchanged. */
export const linesToGateway = rememberedFor(
  ({ raw, ...forGateway }: ForGateway & { raw: readonly string[] }) => requestLines(headersToGateway(raw, forGateway)),
  (one, other) =>
    one.jar === other.jar &&
    one.dropAuthorization === other.dropAuthorization &&
    one.visitor.username === other.visitor.username &&
    one.visitor.role === other.visitor.role &&
    one.visitor.sourceIp === other.visitor.sourceIp &&
    one.visitor.origin === other.visitor.origin,
)

/** A gateway's head for the browser. */
export const headToBrowser = rememberedFor(
  ({ head, ...forBrowser }: ForBrowser & { head: AnswerHead }): AnswerHead => ({
    ...head,
    headers: headersFromGateway(head.headers, forBrowser),
  }),
  (one, other) => one.jar === other.jar && one.origin === other.origin && one.address === other.address,
)
