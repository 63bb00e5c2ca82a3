/** The day of the week, Monday is 0, and the minute of the day, in a time zone or in that of this machine. */
export function dayAndMinute(at: number, timeZone = Temporal.Now.timeZoneId()): { day: number; minute: number } {
  const zoned = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone)
  return { day: zoned.dayOfWeek - 1, minute: zoned.hour * 60 + zoned.minute }
}
