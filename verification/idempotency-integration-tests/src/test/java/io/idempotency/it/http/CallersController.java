package io.idempotency.it.http;

import io.idempotency.it.scenarios.Runs;
import java.util.List;

import io.idempotency.Idempotent;

import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationToken;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Callers with a token of two issuers. The token is what it says: the issuer, a dot, the
 * subject, which may be missing.
 */
@RestController
class CallersController {

	private final Runs runs;

	CallersController(Runs runs) {
		this.runs = runs;
	}

	@PostMapping("/callers/pay")
	@Idempotent
	public String pay() {
		return "run " + this.runs.run("/callers/pay");
	}

	@Bean
	@Order(1)
	static SecurityFilterChain tokens(HttpSecurity http) throws Exception {
		return http.securityMatcher("/callers/**")
			.csrf((csrf) -> csrf.disable())
			.authorizeHttpRequests((requests) -> requests.anyRequest().authenticated())
			.oauth2ResourceServer((server) -> server.jwt((jwt) -> jwt.decoder(CallersController::decode)
				.jwtAuthenticationConverter((token) -> "object".equals(token.getSubject())
						? UsernamePasswordAuthenticationToken.authenticated(new AppUser(), "", null)
						: new JwtAuthenticationToken(token, List.of()))))
			.build();
	}

	private static Jwt decode(String token) {
		int dot = token.indexOf('.');
		Jwt.Builder jwt = Jwt.withTokenValue(token)
			.header("alg", "none")
			.issuer("https://" + token.substring(0, dot))
			.claim("scope", "pay");
		return (dot + 1 < token.length()) ? jwt.subject(token.substring(dot + 1)).build() : jwt.build();
	}

	/** A user as an application may have it: without a name. */
	private static final class AppUser {

	}

}
