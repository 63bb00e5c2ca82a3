/**
 * Preloaded into a child that has a process group of its own: when the process that started it is gone, killed with no
 * chance to say so, the channel between them closes, and the child ends as if it had been asked to.
 */
process.channel?.unref()
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
