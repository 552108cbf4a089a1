package io.idempotency.samples.shop;

import java.util.List;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/api/log")
class CallLogController {

	private final CallLog log;

	CallLogController(CallLog log) {
		this.log = log;
	}

	@GetMapping
	List<LoggedCall> list(@RequestParam(defaultValue = "0") long after) {
		return this.log.after(after);
	}

}
