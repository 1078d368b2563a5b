/** The process's environment. Only for another process to be started with, and to tell how this one was: settings are in the `Config`. */
export const processEnvironment: Readonly<NodeJS.ProcessEnv> = process.env
