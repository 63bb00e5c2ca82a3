import type { z } from 'zod'

/**
 * A device that can be switched. Calls never overlap: one that was broken off has settled, or is left behind, before
 * the next. Each resolves with what the device answered, in a few words for the ledger, once it has done it. It rejects
 * when that is not known, with `DeviceRefusal` when the device said that it did not.
 */
export type Driver = {
  /** The device ends it itself after `seconds` (a whole number, 1 to 1,800) where it can. */
  on(seconds: number, signal: AbortSignal): Promise<string>
  off(signal: AbortSignal): Promise<string>
  /** Lets go of what is held open. Nothing is switched. */
  close?(): Promise<void>
}

/** The device answered, and did not switch: a wrong password, an unknown zone, too many calls. */
export class DeviceRefusal extends Error {
  override name = 'DeviceRefusal'
}

/** What a file of this folder exports as `driver`. */
export type DriverType<Shape extends z.ZodRawShape = z.ZodRawShape> = {
  /** The value of `driver` in gateway.yaml. */
  name: string
  /** What it switches, for the documentation. */
  summary: string
  /** Its keys in gateway.yaml, beside those of every deterrent. */
  settings: Shape
  /** How long an answer may take; 5 s when left out. */
  answerMs?: number
  /** Whether the device ends a firing itself, so that it ends even with a gateway without power. */
  endsItself(settings: z.output<z.ZodObject<Shape>>): boolean
  /** What must never be read in a log or in the ledger. */
  secrets?(settings: z.output<z.ZodObject<Shape>>): (string | undefined)[]
  open(settings: z.output<z.ZodObject<Shape>>): Driver
}

/** Keeps the type of the settings within the file. */
export function driverType<Shape extends z.ZodRawShape>(definition: DriverType<Shape>): DriverType<Shape> {
  return definition
}
