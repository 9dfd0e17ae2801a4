/**
 * Frames on a connection: a length, a header, a body. {@link io.journalq.common.protocol.frame.Frames} combines headers and
 * bodies. {@link io.journalq.common.protocol.frame.FrameReads} lets a frame decoder choose where a socket is read to. Must
 * not know what a message means.
 */
package io.journalq.common.protocol.frame;
