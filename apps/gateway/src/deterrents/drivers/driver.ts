import { z } from 'zod'

/**
 * A switchable device. Calls never overlap: an aborted call has settled, or is abandoned, before the next. Each
 * resolves with the device's answer, in a few words for the ledger, once the device has switched. It rejects when that
 * is unknown, with `DeviceRefusal` when the device said that it did not switch.
 *
 * `off` also resolves when the device was off already, and ends only what `on` has begun, as far as the device tells
 * (docs/decisions/051-off-is-a-state.md).
 */
export type Driver = {
  /** `seconds` is a whole number from 1 to 1,800. A device that has a timer also switches itself off after it. */
  on(seconds: number, signal: AbortSignal): Promise<string>
  off(signal: AbortSignal): Promise<string>
  /** What the device has to switch, whatever `settings` choose of it. Switches nothing. */
  outputs?(signal: AbortSignal): Promise<DeviceOutput[]>
  /** Closes open connections. Switches nothing. */
  close?(): Promise<void>
}

/** `settings` are those of gateway.yaml that choose it; `isOn` is undefined when the device does not say. */
export type DeviceOutput = { name: string; isOn: boolean | undefined; settings: Record<string, string | number> }

/** The device answered and did not switch: a wrong password, an unknown zone, too many calls. */
export class DeviceRefusal extends Error {
  override name = 'DeviceRefusal'
}

/** A refusal by a device that was asked afterwards, or that took nothing: it has not been on, and will not be. */
export class NeverOn extends DeviceRefusal {
  override name = 'NeverOn'
}

/** Each file of this folder exports one as `driver`. */
export type DriverType<Shape extends z.ZodRawShape = z.ZodRawShape> = {
  /** The value of `driver` in gateway.yaml. */
  name: string
  /** Its purpose, for the documentation. */
  summary: string
  /** Its keys in gateway.yaml, besides those of every deterrent. */
  settings: Shape
  /** Of a driver that can list outputs: valid settings that choose one, for asking before a person has chosen. */
  anyOutput?: Record<string, string | number>
  /** How long an answer may take; default 5 s. */
  answerMs?: number
  /** Texts that must never appear in a log or in the ledger. */
  secrets?(settings: z.output<z.ZodObject<Shape>>): (string | undefined)[]
  open(settings: z.output<z.ZodObject<Shape>>): Driver
}

/** Keeps the type of the settings within the file. */
export function driverType<Shape extends z.ZodRawShape>(definition: DriverType<Shape>): DriverType<Shape> {
  return definition
}

/** Of a setting that no screen shows as it is typed. */
export const SECRET = { writeOnly: true } as const

/** The root of a device's web interface. */
export const deviceAddress = z
  .url({ protocol: /^https?$/, error: 'This must be an http:// or https:// address.' })
  .regex(/^https?:\/\/[^/?#@]+\/?$/, 'This must be a scheme and a host, without a path, a user or a password.')

export const verifyCertificate = z
  .boolean()
  .default(true)
  .describe('When false, accepts any certificate of an https:// device.')

/** The password in an address, as it is written there and as a device may repeat it. */
export function passwordsIn(url: string): string[] {
  const { password } = new URL(url)
  try {
    return [password, decodeURIComponent(password)]
  } catch {
    return [password]
  }
}
