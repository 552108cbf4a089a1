package io.idempotency.it.webflux;

import java.util.List;

import io.idempotency.Idempotent;
import io.idempotency.it.scenarios.Runs;
import reactor.core.publisher.Mono;

import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationToken;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.springframework.security.web.server.util.matcher.ServerWebExchangeMatchers.pathMatchers;

/** Callers with a token of two issuers. */
@RestController
class ScenariosOfCallers {

	private final Runs runs;

	ScenariosOfCallers(Runs runs) {
		this.runs = runs;
	}

	@PostMapping("/callers/pay")
	@Idempotent
	public Mono<String> pay() {
		return Mono.fromSupplier(() -> "run " + this.runs.run("/callers/pay"));
	}

	@Bean
	@Order(1)
	static SecurityWebFilterChain tokens(ServerHttpSecurity http) {
		return http.securityMatcher(pathMatchers("/callers/**"))
			.csrf(ServerHttpSecurity.CsrfSpec::disable)
			.authorizeExchange((exchanges) -> exchanges.anyExchange().authenticated())
			.oauth2ResourceServer(
					(server) -> server.jwt((jwt) -> jwt.jwtDecoder((token) -> Mono.fromSupplier(() -> decode(token)))
						.jwtAuthenticationConverter((token) -> Mono.just("object".equals(token.getSubject())
								? UsernamePasswordAuthenticationToken.authenticated(new AppUser(), "", null)
								: new JwtAuthenticationToken(token, List.of())))))
			.build();
	}

	private static Jwt decode(String token) {
		String[] names = token.split("\\.");
		Jwt.Builder jwt = Jwt.withTokenValue(token).header("alg", "none").issuer("https://" + names[0]);
		return ((names.length > 1) ? jwt.subject(names[1]) : jwt).build();
	}

	/** A user as an application may have it: without a name. */
	private static final class AppUser {

	}

}
