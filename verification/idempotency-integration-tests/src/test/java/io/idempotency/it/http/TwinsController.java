package io.idempotency.it.http;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import io.idempotency.Idempotent;
import jakarta.annotation.PreDestroy;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** Asynchronous answers that are made by hand, each by a guarded handler and its twin. */
@RestController
class TwinsController {

	private final ExecutorService workers = Executors.newCachedThreadPool();

	@PreDestroy
	void stop() {
		this.workers.shutdownNow();
	}

	@Idempotent
	@PostMapping("/twins/guarded/{kind}/{size}")
	public void guarded(@PathVariable Kind kind, @PathVariable int size, HttpServletRequest request,
			HttpServletResponse response) throws IOException {
		answer(kind, size, request, response);
	}

	@PostMapping("/twins/unguarded/{kind}/{size}")
	public void unguarded(@PathVariable Kind kind, @PathVariable int size, HttpServletRequest request,
			HttpServletResponse response) throws IOException {
		answer(kind, size, request, response);
	}

	private void answer(Kind kind, int size, HttpServletRequest request, HttpServletResponse response)
			throws IOException {
		response.setContentType("text/plain;charset=UTF-8");
		switch (kind) {
			case WRITER -> start(request, response, (context) -> print(response, size));
			case OWN_RESPONSE ->
				startOwn(request, (context) -> print((HttpServletResponse) context.getResponse(), size));
			case WRITER_AFTER_HEAD -> {
				response.getWriter().print("head ");
				start(request, response, (context) -> print(response, size));
			}
			case OWN_RESPONSE_AFTER_HEAD -> {
				response.getOutputStream().print("head ");
				startOwn(request, (context) -> write((HttpServletResponse) context.getResponse(), size));
			}
			case CLOSED_WRITER -> start(request, response, (context) -> {
				print(response, size);
				response.getWriter().close();
			});
			case STREAM -> start(request, response, (context) -> write(response, size));
			case STREAM_AFTER_HEAD -> {
				response.getOutputStream().write(bytes(size));
				start(request, response, (context) -> response.getOutputStream().print("END"));
			}
			case FLUSHED -> {
				response.getOutputStream().write(bytes(size));
				response.flushBuffer();
				start(request, response, (context) -> write(response, size));
			}
			case RESET -> {
				response.getWriter().print("never seen");
				start(request, response, (context) -> {
					response.reset();
					response.setContentType("text/csv");
					write(response, size);
				});
			}
			case LISTENER -> listen(request, response, size);
			case LISTENER_AFTER_HEAD -> {
				response.getOutputStream().write(bytes(size));
				listen(request, response, size);
			}
		}
	}

	private void start(HttpServletRequest request, HttpServletResponse response, Work work) {
		run(request.startAsync(request, response), work);
	}

	private void startOwn(HttpServletRequest request, Work work) {
		run(request.startAsync(), work);
	}

	private void run(AsyncContext context, Work work) {
		this.workers.execute(() -> {
			try {
				work.run(context);
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
			finally {
				context.complete();
			}
		});
	}

	private static void print(HttpServletResponse response, int size) throws IOException {
		PrintWriter writer = response.getWriter();
		String text = new String(bytes(size), StandardCharsets.US_ASCII);
		writer.print(text.substring(0, size / 2));
		writer.print(text.substring(size / 2));
		writer.print('ä');
	}

	private static void write(HttpServletResponse response, int size) throws IOException {
		response.getOutputStream().write(bytes(size));
		response.getOutputStream().print("END");
	}

	private static void listen(HttpServletRequest request, HttpServletResponse response, int size) throws IOException {
		AsyncContext context = request.startAsync(request, response);
		ServletOutputStream out = response.getOutputStream();
		byte[] bytes = bytes(size);
		out.setWriteListener(new WriteListener() {

			private int position;

			@Override
			public void onWritePossible() throws IOException {
				while (out.isReady()) {
					if (this.position == bytes.length) {
						context.complete();
						return;
					}
					int length = Math.min(1000, bytes.length - this.position);
					out.write(bytes, this.position, length);
					this.position += length;
				}
			}

			@Override
			public void onError(Throwable thrown) {
				context.complete();
			}

		});
	}

	private static byte[] bytes(int size) {
		byte[] bytes = new byte[size];
		for (int i = 0; i < size; i++) {
			bytes[i] = (byte) ('a' + i % 26);
		}
		return bytes;
	}

	enum Kind {

		WRITER, OWN_RESPONSE, WRITER_AFTER_HEAD, OWN_RESPONSE_AFTER_HEAD, CLOSED_WRITER, STREAM, STREAM_AFTER_HEAD,
		FLUSHED, RESET, LISTENER, LISTENER_AFTER_HEAD

	}

	/** What a worker does with the answer before it completes it. */
	@FunctionalInterface
	private interface Work {

		void run(AsyncContext context) throws IOException;

	}

}
