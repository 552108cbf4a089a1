package io.idempotency.webflux;

import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

import org.springframework.core.ResolvableType;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ReactiveHttpOutputMessage;
import org.springframework.http.ResponseCookie;
import org.springframework.http.codec.HttpMessageWriter;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.util.MultiValueMap;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.reactive.result.view.ViewResolver;
import org.springframework.web.server.ServerWebExchange;

/**
 * The response of a functional route. A publisher in its body is part of the work.
 *
 * @param response the response of the handler
 * @param owned is notified
 * @param duplicates finds the results of work that was already done
 */
record ObservedResponse(ServerResponse response, HandlerCall owned,
		HandlerResults.Duplicates duplicates) implements ServerResponse {

	@Override
	public HttpStatusCode statusCode() {
		return this.response.statusCode();
	}

	@Override
	@SuppressWarnings("removal")
	public int rawStatusCode() {
		return statusCode().value();
	}

	@Override
	public HttpHeaders headers() {
		return this.response.headers();
	}

	@Override
	public MultiValueMap<String, ResponseCookie> cookies() {
		return this.response.cookies();
	}

	@Override
	public Mono<Void> writeTo(ServerWebExchange exchange, Context context) {
		List<HttpMessageWriter<?>> writers = context.messageWriters()
			.stream()
			.<HttpMessageWriter<?>>map((writer) -> new ObservedWriter<>(writer, this))
			.toList();
		return this.response.writeTo(exchange, new Context() {

			@Override
			public List<HttpMessageWriter<?>> messageWriters() {
				return writers;
			}

			@Override
			public List<ViewResolver> viewResolvers() {
				return context.viewResolvers();
			}

		});
	}

	private <T> Publisher<T> observed(Publisher<T> body) {
		return HandlerResults.observedBody(body, this.owned, this.duplicates);
	}

	/** A writer that observes its input. */
	private record ObservedWriter<T>(HttpMessageWriter<T> writer,
			ObservedResponse response) implements HttpMessageWriter<T> {

		@Override
		public List<MediaType> getWritableMediaTypes() {
			return this.writer.getWritableMediaTypes();
		}

		@Override
		public List<MediaType> getWritableMediaTypes(ResolvableType type) {
			return this.writer.getWritableMediaTypes(type);
		}

		@Override
		public boolean canWrite(ResolvableType type, @Nullable MediaType mediaType) {
			return this.writer.canWrite(type, mediaType);
		}

		@Override
		public Mono<Void> write(Publisher<? extends T> input, ResolvableType type, @Nullable MediaType mediaType,
				ReactiveHttpOutputMessage message, Map<String, Object> hints) {
			return this.writer.write(this.response.observed(input), type, mediaType, message, hints);
		}

		@Override
		public Mono<Void> write(Publisher<? extends T> input, ResolvableType actualType, ResolvableType type,
				@Nullable MediaType mediaType, ServerHttpRequest request, ServerHttpResponse response,
				Map<String, Object> hints) {
			return this.writer.write(this.response.observed(input), actualType, type, mediaType, request, response,
					hints);
		}

	}

}
