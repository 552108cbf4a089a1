package io.idempotency.webflux;

import java.io.EOFException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

import io.idempotency.http.ByteArrayBuffer;
import io.idempotency.http.StoredResponse;
import io.idempotency.http.StoredResponse.AmbientHeaders;
import io.idempotency.http.StoredResponse.EndedBy;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.publisher.SynchronousSink;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ResponseCookie;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;

/**
 * A response that is buffered from the claim of its call until the record is complete. A
 * stream, or a response that exceeds the limit, is passed through. Without a claim the
 * response is not buffered.
 */
final class BufferedResponse extends ServerHttpResponseDecorator {

	private final long limit;

	private final Sinks.Empty<Void> decided = Sinks.empty();

	private final Mono<Void> clientGone;

	private final List<Supplier<? extends Mono<Void>>> commitActions = new ArrayList<>();

	private ByteArrayBuffer body = new ByteArrayBuffer();

	private volatile State state = State.OPEN;

	private volatile @Nullable Buffering buffering;

	private volatile @Nullable Supplier<Mono<Void>> replacement;

	private volatile int replacedStatus;

	private volatile boolean streaming;

	private volatile boolean contentFailed;

	private volatile boolean clientLost;

	/**
	 * Creates the response.
	 * @param limit the maximum number of buffered bytes
	 * @param clientGone completes when the client disconnected
	 */
	BufferedResponse(ServerHttpResponse delegate, long limit, Mono<Void> clientGone) {
		super(delegate);
		this.limit = limit;
		this.clientGone = clientGone;
	}

	/**
	 * Buffers the response from now on.
	 * @param beforeEnd completes the record, before the client can see the end
	 * @param continues whether a body that is passed through is read to its end after the
	 * client disconnected
	 */
	void buffer(Supplier<Mono<Void>> beforeEnd, boolean continues) {
		this.buffering = new Buffering(Head.of(getDelegate()), beforeEnd, continues);
	}

	/** Signals that the decision to buffer or replace the response was made. */
	void decided() {
		this.decided.tryEmitEmpty();
	}

	/**
	 * Replaces all output with another response. The first replacement counts.
	 * @param status the status of the other response
	 * @param written writes to the response of the server
	 */
	void replaceWith(int status, Supplier<Mono<Void>> written) {
		if (this.replacement == null) {
			this.replacedStatus = status;
			Buffering buffered = this.buffering;
			Head before = (buffered != null) ? buffered.before() : Head.of(getDelegate());
			this.replacement = () -> {
				before.restore(getDelegate());
				return written.get();
			};
		}
	}

	boolean isReplaced() {
		return this.replacement != null;
	}

	int replacedStatus() {
		return this.replacedStatus;
	}

	/** Returns whether the whole response is buffered, and no part of it was sent. */
	boolean isWhole() {
		return this.state != State.PASSED;
	}

	boolean isStreaming() {
		return this.streaming;
	}

	/**
	 * Returns whether a filter of the application sent another response, for example
	 * after a timeout.
	 */
	boolean isSentByOther() {
		return this.state != State.PASSED && getDelegate().isCommitted();
	}

	/**
	 * Returns whether the connection to the client was lost while the response did not
	 * fail.
	 */
	boolean hasLostClient() {
		return this.clientLost;
	}

	int status() {
		HttpStatusCode set = getStatusCode();
		return (set != null) ? set.value() : HttpStatus.OK.value();
	}

	@Override
	public boolean setStatusCode(@Nullable HttpStatusCode code) {
		return this.state == State.OPEN && super.setStatusCode(code);
	}

	@Override
	public boolean setRawStatusCode(@Nullable Integer value) {
		return setStatusCode((value != null) ? HttpStatusCode.valueOf(value) : null);
	}

	@Override
	public void beforeCommit(Supplier<? extends Mono<Void>> action) {
		if (this.state == State.PASSED) {
			super.beforeCommit(action);
		}
		else {
			this.commitActions.add(action);
		}
	}

	@Override
	public boolean isCommitted() {
		return this.state != State.OPEN || super.isCommitted();
	}

	@Override
	public Mono<Void> writeWith(Publisher<? extends DataBuffer> content) {
		return Mono.defer(() -> {
			if (this.state == State.PASSED) {
				return send(content);
			}
			if (this.state == State.WHOLE || isReplaced()) {
				return Flux.from(content).doOnNext(DataBufferUtils::release).then();
			}
			Mono<Void> written = (content instanceof Mono<? extends DataBuffer> whole) ? write(whole)
					: write(Flux.from(content));
			return written.doOnDiscard(DataBuffer.class, DataBufferUtils::release).doOnError((failed) -> startOver());
		});
	}

	private Mono<Void> write(Mono<? extends DataBuffer> content) {
		return content.<DataBuffer>handle(this::take)
			.flatMap((excess) -> passOn(Mono.just(excess)).thenReturn(true))
			.switchIfEmpty(Mono.defer(() -> complete().thenReturn(true)))
			.then();
	}

	private Mono<Void> write(Flux<? extends DataBuffer> content) {
		Flux<DataBuffer> excess = content.handle(this::take);
		return excess.<Void>switchOnFirst((first, all) -> {
			if (first.hasValue()) {
				return Flux.from(passOn(all));
			}
			return all.then(Mono.defer(this::complete)).flux();
		}).then();
	}

	/**
	 * Buffers the bytes of a buffer. If the body exceeds the limit, the bytes are passed
	 * through from this buffer on.
	 */
	private void take(DataBuffer buffer, SynchronousSink<DataBuffer> excess) {
		if (isReplaced()) {
			DataBufferUtils.release(buffer);
		}
		else if (this.state == State.PASSED || this.buffering == null) {
			excess.next(buffer);
		}
		else {
			Bodies.move(buffer, this.body);
			if (this.body.size() > this.limit) {
				excess.next(bufferFactory().wrap(Bodies.copy(this.body.toBuffer())));
				this.body = new ByteArrayBuffer();
			}
		}
	}

	private Mono<Void> complete() {
		if (this.buffering == null && !isReplaced()) {
			pass();
			return getDelegate().writeWith(Flux.empty());
		}
		return commit();
	}

	private void pass() {
		this.state = State.PASSED;
		this.commitActions.forEach(getDelegate()::beforeCommit);
		this.commitActions.clear();
	}

	/**
	 * Passes the actions before the commit on to a response that other code completes.
	 */
	void passActions() {
		if (this.state == State.OPEN) {
			pass();
		}
	}

	private Mono<Void> passOn(Publisher<? extends DataBuffer> content) {
		pass();
		return send(content);
	}

	/** Passes a body through. The record is complete before the client sees the end. */
	private Mono<Void> send(Publisher<? extends DataBuffer> content) {
		Buffering buffered = this.buffering;
		if (buffered == null) {
			return getDelegate().writeWith(content);
		}
		if (content instanceof Mono<? extends DataBuffer> whole) {
			return whole.flatMap((buffer) -> Mono.defer(buffered.beforeEnd())
				.then(sent(getDelegate().writeWith(Mono.just(buffer)))));
		}
		return Mono.deferContextual((context) -> {
			BodyRelay<DataBuffer> relay = new BodyRelay<>(Flux.from(content).doOnError(this::contentFailed),
					DataBufferUtils::release, buffered.continues(), context);
			return sent(getDelegate().writeWith(relay.concatWith(Mono.defer(buffered.beforeEnd()).then(Mono.empty()))))
				.doOnError((lost) -> relay.lose())
				.onErrorResume((lost) -> relay.ended().then(Mono.error(lost)))
				.then(Mono.defer(relay::ended));
		});
	}

	/** Ends when the client disconnects, because a server may not report that. */
	private Mono<Void> sent(Mono<Void> written) {
		return Mono
			.firstWithSignal(written,
					this.clientGone.then(Mono.error(() -> new EOFException("The client has disconnected"))))
			.doOnError((failure) -> this.clientLost = !this.contentFailed);
	}

	private void contentFailed(Throwable failure) {
		this.contentFailed = true;
		// The body failed, so an earlier disconnect was not the reason.
		this.clientLost = false;
	}

	/** Discards the body that failed, so that the error response does not contain it. */
	private void startOver() {
		if (this.state == State.OPEN) {
			this.body = new ByteArrayBuffer();
			getHeaders().clearContentHeaders();
		}
	}

	@Override
	public Mono<Void> writeAndFlushWith(Publisher<? extends Publisher<? extends DataBuffer>> content) {
		return Mono.deferContextual((context) -> {
			if (this.state == State.WHOLE) {
				return Mono.empty();
			}
			BodyRelay<Publisher<? extends DataBuffer>> relay = new BodyRelay<>(Flux.from(content)
				.<Publisher<? extends DataBuffer>>map((part) -> Flux.from(part).doOnError(this::contentFailed))
				.doOnError(this::contentFailed)
				// A server may report nothing else.
				.doOnCancel(() -> this.clientLost = true), (part) -> {
				}, false, context);
			// The call is claimed when the stream is subscribed.
			Mono<Void> known = (this.buffering != null || isReplaced() || this.state == State.PASSED) ? Mono.empty()
					: Mono.firstWithSignal(this.decided.asMono(), relay.first());
			return known.then(Mono.defer(() -> stream(relay)));
		});
	}

	private Mono<Void> stream(BodyRelay<Publisher<? extends DataBuffer>> relay) {
		if (isReplaced()) {
			relay.lose();
			return Mono.empty();
		}
		this.streaming = this.buffering != null;
		if (this.state == State.OPEN) {
			pass();
		}
		return sent(getDelegate().writeAndFlushWith(relay)).doOnError((lost) -> relay.lose());
	}

	@Override
	public Mono<Void> setComplete() {
		return Mono.defer(() -> {
			if (isReplaced() || this.state == State.WHOLE) {
				return Mono.empty();
			}
			if (this.buffering == null) {
				pass();
				return getDelegate().setComplete();
			}
			return (this.state == State.PASSED) ? getDelegate().setComplete() : commit();
		});
	}

	/** Runs the actions that may change the complete response before the commit. */
	private Mono<Void> commit() {
		Mono<Void> whole = Mono.fromRunnable(() -> {
			if (this.state == State.OPEN) {
				this.state = State.WHOLE;
			}
		});
		if (this.state != State.OPEN || this.commitActions.isEmpty()) {
			return whole;
		}
		List<Supplier<? extends Mono<Void>>> actions = List.copyOf(this.commitActions);
		this.commitActions.clear();
		return Flux.fromIterable(actions).concatMap(Supplier::get).then(whole);
	}

	/** Completes the record, and sends the response if it was not passed through. */
	Mono<Void> finish() {
		return Mono.defer(() -> {
			Supplier<Mono<Void>> instead = this.replacement;
			Buffering buffered = this.buffering;
			if (instead != null) {
				return (buffered == null) ? instead.get() : Mono.defer(buffered.beforeEnd()).then(Mono.defer(instead));
			}
			if (buffered == null) {
				passActions();
				return Mono.empty();
			}
			Mono<Void> recorded = commit().then(Mono.defer(buffered.beforeEnd()));
			return (this.state == State.PASSED) ? recorded : recorded.then(Mono.defer(() -> {
				// An error may have replaced the response meanwhile.
				Supplier<Mono<Void>> other = this.replacement;
				ByteBuffer bytes = this.body.toBuffer();
				return (other != null) ? other.get()
						: bytes.hasRemaining() ? Bodies.write(getDelegate(), bytes) : getDelegate().setComplete();
			}));
		});
	}

	/** Marks the response as a replay, if no part of it was sent. */
	void mark(ResponseReplay replay) {
		if (this.state != State.PASSED) {
			replay.mark(getHeaders(), getHeaders().getFirst(HttpHeaders.CACHE_CONTROL) != null);
		}
	}

	/** Returns the whole response for its record. */
	StoredResponse snapshot(Set<String> excluded) {
		ByteBuffer bytes = this.body.toBuffer();
		Buffering buffered = this.buffering;
		Map<String, List<String>> before = (buffered != null) ? buffered.before().headers() : Map.of();
		Map<String, List<String>> now = Head.copy(getHeaders());
		AmbientHeaders ambient = new AmbientHeaders(before.keySet(), (name) -> before.getOrDefault(name, List.of()));
		long declared = getHeaders().getContentLength();
		return new StoredResponse(EndedBy.BODY, status(), getHeaders().getFirst(HttpHeaders.CONTENT_TYPE),
				(bytes.hasRemaining() || declared <= 0) ? -1 : declared, null,
				ambient.changes(now.keySet(), (name) -> now.getOrDefault(name, List.of()), excluded), bytes);
	}

	private enum State {

		OPEN,

		/** The response is complete, and was not sent. */
		WHOLE,

		/** The response is passed to the server at once. */
		PASSED

	}

	/**
	 * The settings of a buffered response.
	 *
	 * @param before status and headers before the claim
	 * @param beforeEnd completes the record
	 * @param continues whether a body is read to its end without the client
	 */
	private record Buffering(Head before, Supplier<Mono<Void>> beforeEnd, boolean continues) {
	}

	/** Status, headers and cookies at a point in time. */
	private record Head(@Nullable HttpStatusCode status, Map<String, List<String>> headers,
			Map<String, List<ResponseCookie>> cookies) {

		static Head of(ServerHttpResponse response) {
			Map<String, List<ResponseCookie>> cookies = new LinkedHashMap<>();
			response.getCookies().forEach((name, all) -> cookies.put(name, List.copyOf(all)));
			return new Head(response.getStatusCode(), copy(response.getHeaders()), cookies);
		}

		static Map<String, List<String>> copy(HttpHeaders headers) {
			Map<String, List<String>> copy = new LinkedHashMap<>();
			headers.forEach((name, values) -> copy.put(name, List.copyOf(values)));
			return copy;
		}

		void restore(ServerHttpResponse response) {
			if (response.isCommitted()) {
				return;
			}
			response.setStatusCode(this.status);
			response.getHeaders().clear();
			this.headers.forEach((name, values) -> response.getHeaders().put(name, new ArrayList<>(values)));
			// Spring sets the content type of the body before it subscribes to the
			// handler.
			response.getHeaders().clearContentHeaders();
			response.getCookies().clear();
			this.cookies.forEach((name, all) -> all.forEach(response::addCookie));
		}

	}

}
