package io.idempotency.web;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;

/** Writes to the body of a response, which buffers the bytes or passes them through. */
final class BufferedOutputStream extends ServletOutputStream {

	private final BufferedBody body;

	BufferedOutputStream(BufferedBody body) {
		this.body = body;
	}

	@Override
	public void write(int value) throws IOException {
		this.body.write(new byte[] { (byte) value }, 0, 1);
	}

	@Override
	public void write(byte[] bytes, int offset, int length) throws IOException {
		this.body.write(bytes, offset, length);
	}

	@Override
	public void flush() throws IOException {
		this.body.flush();
	}

	@Override
	public void close() throws IOException {
		this.body.closeStream();
	}

	@Override
	public boolean isReady() {
		try {
			return !this.body.passesThrough() || this.body.target().isReady();
		}
		catch (IOException ex) {
			// The next write throws the exception.
			return true;
		}
	}

	/**
	 * Makes the response a stream. Only a stream can wait until the container accepts
	 * more bytes and calls the listener.
	 */
	@Override
	public void setWriteListener(WriteListener listener) {
		try {
			this.body.stream();
			if (this.body.passesThrough()) {
				this.body.target().setWriteListener(listener);
			}
			else {
				listener.onWritePossible();
			}
		}
		catch (IOException ex) {
			listener.onError(ex);
		}
	}

	/**
	 * Encodes text at once. Code that completes an asynchronous request need not flush
	 * its writer, and no other code can flush it in time.
	 */
	static final class UnbufferedWriter extends Writer {

		private final OutputStream out;

		private final OutputStreamWriter encoder;

		UnbufferedWriter(OutputStream out, String encoding) throws IOException {
			this.out = out;
			this.encoder = new OutputStreamWriter(new FilterOutputStream(out) {

				@Override
				public void write(byte[] bytes, int offset, int length) throws IOException {
					this.out.write(bytes, offset, length);
				}

				/** Ignores a flush that does not come from the handler. */
				@Override
				public void flush() {
				}

			}, encoding);
		}

		@Override
		public void write(char[] characters, int offset, int length) throws IOException {
			this.encoder.write(characters, offset, length);
			this.encoder.flush();
		}

		@Override
		public void write(String text, int offset, int length) throws IOException {
			this.encoder.write(text, offset, length);
			this.encoder.flush();
		}

		@Override
		public void flush() throws IOException {
			this.out.flush();
		}

		@Override
		public void close() throws IOException {
			this.encoder.close();
		}

	}

}
