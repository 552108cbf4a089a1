package io.idempotency.webflux;

import java.io.EOFException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;

import io.idempotency.http.StoredResponse.AmbientHeaders;
import io.idempotency.http.ByteSink;
import io.idempotency.http.StoredResponse;
import io.idempotency.http.StoredResponse.EndedBy;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ResponseCookie;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;
import org.springframework.util.CollectionUtils;
import org.springframework.util.LinkedCaseInsensitiveMap;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.util.MultiValueMap;

/**
 * Holds the answer of a handler back: status, headers and cookies too, so that nothing of
 * an answer that is thrown away is left behind. A stream, and an answer that is too
 * large, is passed on from the moment on at which it turns out to be one. For one call,
 * whose signals come one after the other.
 */
final class HeldResponse extends ServerHttpResponseDecorator {

	/** What the check of a conditional request sets. */
	private static final List<String> CONDITIONS = List.of(HttpHeaders.ETAG, HttpHeaders.LAST_MODIFIED);

	private final long limit;

	private final Mono<Void> gone;

	/** What the response had before. */
	private final Map<String, List<String>> given = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

	private final Map<String, List<String>> fields = new LinkedCaseInsensitiveMap<>(8, Locale.ROOT);

	/** A view of the fields. */
	private final HttpHeaders headers = new HttpHeaders(CollectionUtils.toMultiValueMap(this.fields));

	private final MultiValueMap<String, ResponseCookie> cookies = new LinkedMultiValueMap<>();

	private final List<Supplier<? extends Mono<Void>>> commitActions = new ArrayList<>();

	private ByteSink body = new ByteSink();

	private final @Nullable HttpStatusCode before;

	private @Nullable HttpStatusCode status;

	private volatile State state = State.OPEN;

	private volatile boolean streaming;

	private volatile boolean outlasting;

	private volatile boolean contentBroken;

	private volatile boolean clientLost;

	/** What has to be done before anything is passed on. */
	private Supplier<? extends Mono<Void>> beforePassing = Mono::empty;

	/**
	 * Starts to hold an answer back.
	 * @param delegate the response
	 * @param limit how many bytes are held
	 * @param gone completes when the client has hung up
	 */
	HeldResponse(ServerHttpResponse delegate, long limit, Mono<Void> gone) {
		super(delegate);
		this.limit = limit;
		this.gone = gone;
		this.before = delegate.getStatusCode();
		this.status = this.before;
		delegate.getHeaders().forEach((name, values) -> {
			this.given.put(name, List.copyOf(values));
			this.fields.put(name, new ArrayList<>(values));
		});
	}

	/**
	 * Takes what the check of a conditional request has set on the response of the
	 * server.
	 */
	void adoptConditions() {
		HttpStatusCode set = getDelegate().getStatusCode();
		if (set != null && !set.equals(this.before)) {
			setStatusCode(set);
		}
		for (String name : CONDITIONS) {
			String value = getDelegate().getHeaders().getFirst(name);
			if (value != null) {
				this.headers.set(name, value);
			}
		}
	}

	/** Does something, once, before the first byte of an answer that cannot be held. */
	void beforePassing(Supplier<? extends Mono<Void>> action) {
		this.beforePassing = action;
	}

	/**
	 * Throws the answer away: nothing of it was sent, and nothing of it is left to the
	 * answer in its place.
	 */
	void startAnew() {
		if (this.state == State.PASSED) {
			return;
		}
		this.state = State.OPEN;
		this.streaming = false;
		this.status = this.before;
		this.body = new ByteSink();
		this.cookies.clear();
		this.commitActions.clear();
		this.headers.clear();
		this.given.forEach((name, values) -> this.headers.put(name, new ArrayList<>(values)));
		dropConditions();
	}

	private void dropConditions() {
		HttpHeaders sent = getDelegate().getHeaders();
		Map<String, List<String>> others = new LinkedHashMap<>();
		sent.forEach((name, values) -> {
			List<String> kept = CONDITIONS.stream().anyMatch(name::equalsIgnoreCase) ? this.given.get(name) : values;
			if (kept != null) {
				others.put(name, new ArrayList<>(kept));
			}
		});
		sent.clear();
		others.forEach(sent::put);
	}

	/** Returns whether the whole answer is here, and nothing of it was sent. */
	boolean isWhole() {
		return this.state != State.PASSED;
	}

	/** Returns whether the answer passes through bit by bit, as it was meant to. */
	boolean isStreaming() {
		return this.streaming;
	}

	/**
	 * Lets the making of a body go on that cannot be held back, and is no stream, when
	 * its client is gone: it is a part of the work.
	 */
	void outlastClient() {
		this.outlasting = true;
	}

	/**
	 * Returns whether the server could not pass the answer on, though whoever makes it
	 * has not failed.
	 */
	boolean hasLostClient() {
		return this.clientLost;
	}

	/** Returns the status that the client gets. */
	int status() {
		HttpStatusCode set = this.status;
		return (set != null) ? set.value() : HttpStatus.OK.value();
	}

	@Override
	public boolean setStatusCode(@Nullable HttpStatusCode code) {
		if (this.state != State.OPEN) {
			return false;
		}
		this.status = code;
		return true;
	}

	@Override
	public boolean setRawStatusCode(@Nullable Integer value) {
		return setStatusCode((value != null) ? HttpStatusCode.valueOf(value) : null);
	}

	@Override
	public @Nullable HttpStatusCode getStatusCode() {
		return this.status;
	}

	@Override
	public HttpHeaders getHeaders() {
		return (this.state == State.PASSED) ? getDelegate().getHeaders() : this.headers;
	}

	@Override
	public MultiValueMap<String, ResponseCookie> getCookies() {
		return this.cookies;
	}

	@Override
	public void addCookie(ResponseCookie cookie) {
		this.cookies.add(cookie.getName(), cookie);
	}

	@Override
	public void beforeCommit(Supplier<? extends Mono<Void>> action) {
		this.commitActions.add(action);
	}

	@Override
	public boolean isCommitted() {
		return this.state != State.OPEN || getDelegate().isCommitted();
	}

	@Override
	public Mono<Void> writeWith(Publisher<? extends DataBuffer> content) {
		return Mono.defer(() -> switch (this.state) {
			case OPEN -> holding(content);
			// The answer is whole; nobody would see what comes behind it.
			case HELD -> Flux.from(content).doOnNext(DataBufferUtils::release).then();
			case PASSED -> passing(content);
		});
	}

	private Mono<Void> holding(Publisher<? extends DataBuffer> content) {
		Mono<Void> held = (content instanceof Mono<? extends DataBuffer> whole) ? holding(whole)
				: holding(Flux.from(content));
		return held.doOnDiscard(DataBuffer.class, DataBufferUtils::release).doOnError((broken) -> startOver());
	}

	private Mono<Void> holding(Mono<? extends DataBuffer> content) {
		return content.map(this::exceeds)
			.defaultIfEmpty(false)
			.flatMap((beyond) -> beyond ? passOn(Mono.fromSupplier(this::taken)) : commit());
	}

	private Mono<Void> holding(Flux<? extends DataBuffer> content) {
		Flux<DataBuffer> beyond = content.handle((buffer, sink) -> {
			if (this.state == State.PASSED) {
				sink.next(buffer);
				return;
			}
			if (exceeds(buffer)) {
				sink.next(taken());
			}
		});
		return beyond.switchOnFirst((first, all) -> {
			if (first.hasValue()) {
				return all.transform((rest) -> Flux.from(passOn(rest)));
			}
			return all.then(Mono.defer(this::commit)).cast(DataBuffer.class).flux();
		}).then();
	}

	/** Takes bytes, and returns whether they are too many to be held. */
	private boolean exceeds(DataBuffer buffer) {
		Bodies.move(buffer, this.body);
		return this.body.size() > this.limit;
	}

	/** Returns the bytes that were held. */
	private DataBuffer taken() {
		return bufferFactory().wrap(Bodies.copy(this.body.toBuffer()));
	}

	private Mono<Void> passOn(Publisher<? extends DataBuffer> content) {
		return pass().then(passing(content));
	}

	/** Passes a body on. The end of what outlasts its client is that of the body. */
	private Mono<Void> passing(Publisher<? extends DataBuffer> content) {
		if (!this.outlasting) {
			return passing(getDelegate().writeWith(Flux.from(content).doOnError(this::broken)));
		}
		PassedBody passed = new PassedBody(Flux.from(content).doOnError(this::broken));
		return passing(getDelegate().writeWith(passed))
			.onErrorResume((lost) -> passed.ended().onErrorComplete().then(Mono.error(lost)))
			.then(passed.ended());
	}

	/**
	 * Ends what is passed on with its client. A server may forget to end it: it cancels
	 * the request, from whose cancellation the work is kept, and with it its own writing.
	 */
	private Mono<Void> passing(Mono<Void> written) {
		return Mono
			.firstWithSignal(written, this.gone.then(Mono.error(() -> new EOFException("The client has hung up"))))
			.doOnError((failure) -> this.clientLost = !this.contentBroken);
	}

	private void broken(Throwable failure) {
		this.contentBroken = true;
		// Whoever has hung up before was not why the work has ended.
		this.clientLost = false;
	}

	/** Leaves nothing of a body that has broken off to the answer that tells of it. */
	private void startOver() {
		if (this.state == State.OPEN) {
			this.body = new ByteSink();
			this.headers.clearContentHeaders();
		}
	}

	@Override
	public Mono<Void> writeAndFlushWith(Publisher<? extends Publisher<? extends DataBuffer>> content) {
		return Mono.defer(() -> {
			if (this.state == State.HELD) {
				return Mono.empty();
			}
			this.streaming = true;
			Mono<Void> passed = (this.state == State.OPEN) ? pass() : Mono.empty();
			Flux<Publisher<? extends DataBuffer>> parts = Flux.from(content)
				.<Publisher<? extends DataBuffer>>map((part) -> Flux.from(part).doOnError(this::broken))
				.doOnError(this::broken)
				// A server may say nothing but this.
				.doOnCancel(() -> this.clientLost = true);
			return passed.then(Mono.defer(() -> passing(getDelegate().writeAndFlushWith(parts))));
		});
	}

	@Override
	public Mono<Void> setComplete() {
		return Mono.defer(this::commit);
	}

	/** Does what was to be done before the answer leaves. */
	private Mono<Void> commit() {
		if (this.state != State.OPEN) {
			return Mono.empty();
		}
		Mono<Void> held = Mono.fromRunnable(() -> {
			if (this.state == State.OPEN) {
				this.state = State.HELD;
			}
		});
		if (this.commitActions.isEmpty()) {
			return held;
		}
		// Actions see an answer that can still be changed.
		List<Supplier<? extends Mono<Void>>> actions = List.copyOf(this.commitActions);
		this.commitActions.clear();
		return Flux.fromIterable(actions).concatMap(Supplier::get).then(held);
	}

	private Mono<Void> pass() {
		return Mono.defer(this.beforePassing).then(commit()).then(Mono.fromRunnable(() -> {
			copyHead();
			this.state = State.PASSED;
		}));
	}

	private void copyHead() {
		ServerHttpResponse response = getDelegate();
		response.setStatusCode(this.status);
		HttpHeaders sent = response.getHeaders();
		// A filter outside of the guard of a route may have set something meanwhile.
		Map<String, List<String>> meanwhile = new LinkedHashMap<>();
		sent.forEach((name, values) -> {
			if (!values.equals(this.given.get(name))) {
				meanwhile.put(name, new ArrayList<>(values));
			}
		});
		sent.clear();
		this.fields.forEach((name, values) -> sent.put(name, new ArrayList<>(values)));
		meanwhile.forEach(sent::put);
		this.cookies.forEach((name, all) -> all.forEach(response::addCookie));
	}

	/** Says that the answer is a replay, if nothing of it has been sent yet. */
	void mark(ResponseReplay replay) {
		if (this.state != State.PASSED) {
			replay.mark(this.headers, this.headers.getFirst(HttpHeaders.CACHE_CONTROL) != null);
		}
	}

	/** Reads the whole answer, as it is replayed. */
	StoredResponse snapshot(Set<String> excluded) {
		ByteBuffer bytes = this.body.toBuffer();
		AmbientHeaders ambient = new AmbientHeaders(this.given.keySet(), values(this.given));
		return new StoredResponse(EndedBy.BODY, status(), this.headers.getFirst(HttpHeaders.CONTENT_TYPE),
				bytes.hasRemaining() ? -1 : declaredLength(), null,
				ambient.changes(this.fields.keySet(), values(this.fields), excluded), bytes);
	}

	private static Function<String, Collection<String>> values(Map<String, List<String>> headers) {
		return (name) -> headers.getOrDefault(name, List.of());
	}

	private long declaredLength() {
		long declared = this.headers.getContentLength();
		return (declared > 0) ? declared : -1;
	}

	/**
	 * Sends the answer, if it was not passed on.
	 * @return completes when it was sent
	 */
	Mono<Void> push() {
		if (this.state == State.PASSED) {
			return Mono.empty();
		}
		return commit().then(Mono.defer(() -> {
			ByteBuffer bytes = this.body.toBuffer();
			copyHead();
			return bytes.hasRemaining() ? Bodies.write(getDelegate(), bytes) : getDelegate().setComplete();
		}));
	}

	private enum State {

		/** Nothing of the body is there yet, or not all of it. */
		OPEN,

		/** The answer is complete, and was not sent. */
		HELD,

		/** The answer goes to the client at once. */
		PASSED

	}

}
