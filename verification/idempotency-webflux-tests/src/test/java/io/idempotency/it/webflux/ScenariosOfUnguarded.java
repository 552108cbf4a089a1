package io.idempotency.it.webflux;

import io.idempotency.Idempotent;
import io.idempotency.it.scenarios.Runs;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpMethod;
import org.springframework.http.codec.multipart.FormFieldPart;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.security.web.server.csrf.CookieServerCsrfTokenRepository;
import org.springframework.security.web.server.csrf.ServerCsrfTokenRequestAttributeHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;

import static org.springframework.security.web.server.util.matcher.ServerWebExchangeMatchers.pathMatchers;

/** Handlers that are not guarded, and code that reads a request before the guard. */
@RestController
class ScenariosOfUnguarded {

	private final Runs runs;

	ScenariosOfUnguarded(Runs runs) {
		this.runs = runs;
	}

	@PostMapping("/unguarded/copy")
	public Flux<DataBuffer> copy(@RequestBody Flux<DataBuffer> body) {
		return body;
	}

	/** A form asks for it by POST. */
	@PutMapping("/unguarded/hidden")
	@Idempotent
	public Mono<String> hidden(Payment payment) {
		return Mono.fromSupplier(() -> "put " + payment.amount() + " in run " + this.runs.run("/unguarded/hidden"));
	}

	@PostMapping("/csrf/pay")
	@Idempotent
	public Mono<String> payWithToken(Payment payment) {
		return Mono.fromSupplier(() -> "paid " + payment.amount() + " in run " + this.runs.run("/csrf/pay"));
	}

	/** Gets another mapping while the application runs. */
	@PostMapping("/unguarded/here/now")
	@Idempotent
	public Mono<String> later() {
		return Mono.fromSupplier(() -> "later " + this.runs.run("/unguarded/later"));
	}

	/** As Spring's own filter, which asks forms alone. */
	@Bean
	static WebFilter hiddenMethods() {
		return (exchange, chain) -> exchange.getRequest().getPath().value().equals("/unguarded/hidden")
				? hiddenMethod(exchange).flatMap((method) -> chain
					.filter(exchange.mutate().request((request) -> request.method(HttpMethod.valueOf(method))).build()))
				: chain.filter(exchange);
	}

	private static Mono<String> hiddenMethod(ServerWebExchange exchange) {
		return exchange.getFormData()
			.mapNotNull((form) -> form.getFirst("_method"))
			.switchIfEmpty(exchange.getMultipartData()
				.mapNotNull((parts) -> (FormFieldPart) parts.getFirst("_method"))
				.map(FormFieldPart::value));
	}

	@Bean
	@Order(1)
	static SecurityWebFilterChain againstForgery(ServerHttpSecurity http) {
		return http.securityMatcher(pathMatchers("/csrf/**"))
			.csrf((csrf) -> csrf.csrfTokenRepository(CookieServerCsrfTokenRepository.withHttpOnlyFalse())
				.csrfTokenRequestHandler(new ServerCsrfTokenRequestAttributeHandler()))
			.build();
	}

	record Payment(String amount) {
	}

}
