/** A zone in which it is noon when this is loaded: what a test calls today stays today until it ends. */
export const NOON_ZONE = (() => {
  const west = new Date().getUTCHours() - 12
  return `Etc/GMT${west < 0 ? west : `+${west}`}`
})()
