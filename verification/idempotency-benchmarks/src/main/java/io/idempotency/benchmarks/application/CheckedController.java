package io.idempotency.benchmarks.application;

import io.idempotency.Idempotent;

import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.WebDataBinder;
import org.springframework.web.bind.annotation.InitBinder;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/**
 * A handler whose application takes part in the binding of its arguments, where it might
 * reject a caller: so the arguments of a duplicate are bound, too.
 */
@RestController
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
class CheckedController {

	@InitBinder
	void check(WebDataBinder binder) {
		binder.setDisallowedFields("id");
	}

	@Idempotent
	@PostMapping("/checked")
	@ResponseStatus(HttpStatus.CREATED)
	Payment checked(@RequestBody Payment payment) {
		return payment;
	}

}
