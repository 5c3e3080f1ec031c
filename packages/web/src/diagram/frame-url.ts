/**
 * The address of the document in which diagrams are drawn. The page's build makes that document and puts its address here
 * (`diagramFrame` in vite.config.ts).
 */
export const FRAME_URL: string = "";
