package io.idempotency.proofs.outage;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.idempotency.IdempotencyContext;
import io.idempotency.Idempotent;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

/** Guards orders, and counts their effects. */
@SpringBootConfiguration
@EnableAutoConfiguration
@Import(OutageApplication.Orders.class)
class OutageApplication {

	@Bean
	SecurityFilterChain security(HttpSecurity http) throws Exception {
		return http.csrf((csrf) -> csrf.disable())
			.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
			.build();
	}

	/** Effects by key. */
	@RestController
	static class Orders {

		private final Map<String, Integer> guarded = new ConcurrentHashMap<>();

		private final Map<String, Integer> unguarded = new ConcurrentHashMap<>();

		@PostMapping("/orders")
		@Idempotent(operation = "orders")
		String order(@RequestHeader("Idempotency-Key") String key) {
			boolean guard = IdempotencyContext.current().isPresent();
			(guard ? this.guarded : this.unguarded).merge(key, 1, Integer::sum);
			return "ordered";
		}

		Map<String, Integer> guarded() {
			return this.guarded;
		}

		/** Returns what was done while the store did not answer. */
		Map<String, Integer> unguarded() {
			return this.unguarded;
		}

		int effects() {
			return sum(this.guarded) + sum(this.unguarded);
		}

		private static int sum(Map<String, Integer> effects) {
			return effects.values().stream().mapToInt(Integer::intValue).sum();
		}

	}

}
