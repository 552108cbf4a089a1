package io.idempotency.web;

import java.io.IOException;

import jakarta.servlet.ServletOutputStream;

/**
 * The client's side of a body over the limit: everything passes through but the last
 * byte, so that the client never sees the end before the record is complete.
 */
final class AllButLastByte {

	private final HeldBody.Target target;

	private int last = -1;

	private boolean clientGone;

	AllButLastByte(HeldBody.Target target) {
		this.target = target;
	}

	void write(byte[] bytes, int offset, int length) {
		if (length == 0) {
			return;
		}
		toClient((out) -> {
			if (this.last >= 0) {
				out.write(this.last);
			}
			out.write(bytes, offset, length - 1);
		});
		this.last = bytes[offset + length - 1] & 0xFF;
	}

	void flush() {
		toClient(ServletOutputStream::flush);
	}

	/** Sends the last byte, once. */
	void end() {
		if (this.last >= 0) {
			toClient((out) -> out.write(this.last));
			this.last = -1;
		}
	}

	/**
	 * A client that hangs up changes nothing: the handler goes on, and the record is
	 * completed.
	 */
	private void toClient(Output output) {
		if (this.clientGone) {
			return;
		}
		try {
			output.writeTo(this.target.open());
		}
		catch (IOException ex) {
			this.clientGone = true;
		}
	}

	/**
	 * Writes something.
	 */
	@FunctionalInterface
	private interface Output {

		void writeTo(ServletOutputStream out) throws IOException;

	}

}
