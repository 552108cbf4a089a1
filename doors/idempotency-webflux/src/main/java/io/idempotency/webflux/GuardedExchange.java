package io.idempotency.webflux;

import java.time.Instant;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.http.codec.multipart.Part;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.util.MultiValueMap;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.ServerWebExchangeDecorator;

/**
 * The exchange of one way through a guarded handler: the body of its request was read,
 * and its answer is held back.
 */
final class GuardedExchange extends ServerWebExchangeDecorator {

	private final ServerHttpRequest request;

	private final HeldResponse response;

	private final KnownRequest known;

	private final boolean read;

	private final FormReader readers;

	private volatile @Nullable Mono<MultiValueMap<String, String>> form;

	private volatile @Nullable Mono<MultiValueMap<String, Part>> parts;

	private volatile @Nullable MultiValueMap<String, Part> readParts;

	GuardedExchange(KnownRequest request, long maxResponseSize, FormReader readers) {
		super(request.exchange());
		this.known = request;
		this.request = request.readable();
		this.response = new HeldResponse(request.exchange().getResponse(), maxResponseSize, request.whenClientIsGone());
		this.read = request.isRead();
		this.readers = readers;
	}

	@Override
	public ServerHttpRequest getRequest() {
		return this.request;
	}

	@Override
	public ServerHttpResponse getResponse() {
		return this.response;
	}

	/** Spring answers the three on the response of the server, which is not held back. */
	@Override
	public boolean checkNotModified(Instant lastModified) {
		boolean notModified = super.checkNotModified(lastModified);
		this.response.adoptConditions();
		return notModified;
	}

	@Override
	public boolean checkNotModified(String etag) {
		boolean notModified = super.checkNotModified(etag);
		this.response.adoptConditions();
		return notModified;
	}

	@Override
	public boolean checkNotModified(@Nullable String etag, Instant lastModified) {
		boolean notModified = super.checkNotModified(etag, lastModified);
		this.response.adoptConditions();
		return notModified;
	}

	/** Returns whether a way may leave files of parts behind. */
	boolean mayHaveFiles() {
		return this.known.isMultipart();
	}

	HeldResponse held() {
		return this.response;
	}

	@Override
	public Mono<MultiValueMap<String, String>> getFormData() {
		if (!this.read) {
			return this.known.whole(super.getFormData());
		}
		Mono<MultiValueMap<String, String>> once = this.form;
		if (once == null) {
			once = Mono.defer(() -> this.readers.form(this.request)).cache();
			this.form = once;
		}
		return once;
	}

	@Override
	public Mono<MultiValueMap<String, Part>> getMultipartData() {
		if (!this.read) {
			return super.getMultipartData();
		}
		Mono<MultiValueMap<String, Part>> once = this.parts;
		if (once == null) {
			once = Mono.defer(() -> this.readers.multipart(this.request))
				.doOnNext((all) -> this.readParts = all)
				.cache();
			this.parts = once;
		}
		return once;
	}

	/** Deletes the files of the parts that were read here. */
	@Override
	public Mono<Void> cleanupMultipart() {
		MultiValueMap<String, Part> all = this.readParts;
		return (all == null) ? Mono.empty()
				: Flux.fromIterable(all.values())
					.concatMapIterable((parts) -> parts)
					.concatMap((part) -> part.delete().onErrorComplete())
					.then();
	}

}
