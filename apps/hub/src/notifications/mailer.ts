import { Transform } from 'node:stream'
import { DeliveryUnknown } from './channel.ts'
import { encodedWords, isSafeInHeader } from './encoded-words.ts'

const CONNECT_TIMEOUT_MS = 10_000
const SILENCE_TIMEOUT_MS = 20_000
/** For a whole mail, however slowly the server answers. */
const DELIVERY_TIMEOUT_MS = 120_000
const CLOSE_TIMEOUT_MS = 1_000

export type Mail = {
  to: string
  /** Identifies this message; its Message-ID is made from it. */
  id: string
  subject: string
  text: string
  /** JPEGs. */
  pictures?: readonly Buffer[]
}

export type Mailer = {
  /**
   * Resolves once the server has accepted it; rejects with the server's error, or with `DeliveryUnknown` when the
   * server had the whole message and did not answer.
   */
  send(mail: Mail): Promise<void>
  /** Aborts current deliveries. */
  close(): void
}

/**
 * Sends plain text, with pictures attached, over SMTP: `url` is smtp:// (with STARTTLS where the server offers it) or
 * smtps://.
 */
export function createMailer({
  url,
  from,
  deliveryTimeoutMs = DELIVERY_TIMEOUT_MS,
}: {
  url: string
  from: string
  deliveryTimeoutMs?: number
}): Mailer {
  const closed = new AbortController()
  /** The Message-IDs of mails that the server has received completely. */
  const written = new Set<string>()
  const opened = openTransport(url, (messageId) => written.add(messageId))
  return {
    async send({ to, id, subject, text, pictures = [] }) {
      const messageId = `<${id}@hedgerow.invalid>`
      try {
        await (
          await opened
        ).sendMail({
          from,
          to,
          ...(isSafeInHeader(subject) && { subject }),
          text,
          messageId,
          attachments: pictures.map((content, i) => ({
            filename: `picture-${i + 1}.jpg`,
            content,
            contentType: 'image/jpeg',
          })),
          signal: AbortSignal.any([closed.signal, AbortSignal.timeout(deliveryTimeoutMs)]),
          headers: {
            'Auto-Submitted': 'auto-generated',
            // nodemailer would send a text that looks encoded as it is.
            ...(!isSafeInHeader(subject) && {
              Subject: { prepared: true, foldLines: true, value: encodedWords(subject) },
            }),
          },
        })
      } catch (error) {
        const answered = error instanceof Error && 'responseCode' in error && error.responseCode !== undefined
        if (answered || !written.has(messageId)) throw error
        throw new DeliveryUnknown('The mail server was lost after it had the message: it may have arrived.', {
          cause: error,
        })
      } finally {
        written.delete(messageId)
      }
    },
    close() {
      closed.abort()
      void opened.then((transport) => transport.close())
    },
  }
}

/** Loaded only where mail is set up: nodemailer takes memory. */
async function openTransport(url: string, onWritten: (messageId: string) => void) {
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    url,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENCE_TIMEOUT_MS,
    socketCloseTimeout: CLOSE_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  transport.use('stream', ({ message }, done) => {
    message.transform(() => endHeard(() => onWritten(message.messageId())))
    done()
  })
  return transport
}

/** Passes all bytes on, and reports the end. */
function endHeard(onEnd: () => void): Transform {
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => done(null, chunk),
    flush(done) {
      onEnd()
      done()
    },
  })
}
