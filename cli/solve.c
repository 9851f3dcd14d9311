/* tessera solve: a case file -> a table of the iteration, errors, a VTU and a JSON report. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "command.h"
#include "solve.h"

static const char help[] =
    "usage: tessera solve CASE.yaml [OPTION]...\n\n"
    "Solves the problem of a case file ('-': standard input).\n\n"
    "  --set key.path=value   replaces or adds a value of the case, e.g. --set mesh.box.cells=[8,8,8]; "
    "repeatable\n"
    "  --device D             auto, cpu, cuda, cuda:N or emulator                (auto)\n"
    "  --threads N            threads of the CPU                                 (all)\n"
    "  --simd BITS            width of SIMD vectors: 128, 256 or 512             (the widest)\n"
    "  --json FILE            writes a report, to the standard output for '-'\n"
    "  --vtu FILE             writes the solution for ParaView\n"
    "  --restart FILE         goes on from a checkpoint (output.checkpoint)\n"
    "  --verbose | --quiet    more, or nothing but errors\n"
    "  --keys [KEY]           lists the keys of case files, all or below KEY\n"
    "  --help                 this text\n";

enum { SET = 256, DEVICE, THREADS, SIMD, JSON, VTU, RESTART, VERBOSE, QUIET, KEYS, HELP };

static const struct option long_options[] = {{"set", required_argument, NULL, SET},
                                             {"device", required_argument, NULL, DEVICE},
                                             {"threads", required_argument, NULL, THREADS},
                                             {"simd", required_argument, NULL, SIMD},
                                             {"json", required_argument, NULL, JSON},
                                             {"vtu", required_argument, NULL, VTU},
                                             {"restart", required_argument, NULL, RESTART},
                                             {"verbose", no_argument, NULL, VERBOSE},
                                             {"quiet", no_argument, NULL, QUIET},
                                             {"keys", optional_argument, NULL, KEYS},
                                             {"help", no_argument, NULL, HELP},
                                             {0}};

static int print_keys(const char *path) {
  static char text[65536];
  if (tes_case_help(path, TES_CASE_HELP_TEXT, text, sizeof text) == 0)
    return cli_usage_error("there is no key '%s' in case files (tessera solve --keys)", path);
  return fputs(text, stdout) < 0;
}

static bool parse_option(int option, SolveOptions *o) {
  double number;
  switch (option) {
  case SET:
    if (o->override_count == SOLVE_OVERRIDES) {
      cli_usage_error("more than %d --set", SOLVE_OVERRIDES);
      return false;
    }
    o->overrides[o->override_count++] = optarg;
    return true;
  case THREADS:
    if (cli_parse_numbers("threads", optarg, true, 1, 4096, 1, &number) != 1) return false;
    o->common.threads = (int)number;
    return true;
  case SIMD:
    return cli_parse_simd(optarg, &o->common);
  case DEVICE:
    o->common.device = optarg;
    return true;
  case JSON:
    o->common.json = optarg;
    return true;
  case VTU:
    o->vtu = optarg;
    return true;
  case RESTART:
    o->restart = optarg;
    return true;
  case VERBOSE:
    o->common.verbosity = TES_VERBOSE;
    return true;
  case QUIET:
    o->common.verbosity = TES_QUIET;
    return true;
  default:
    return false;
  }
}

int cli_solve(int argc, char **argv) {
  SolveOptions o = {0};
  for (int option; (option = cli_next_option(argc, argv, long_options)) != -1;) {
    if (option == HELP) return fputs(help, stdout) < 0;
    if (option == KEYS) return print_keys(optarg ? optarg : optind < argc ? argv[optind] : NULL);
    if (!parse_option(option, &o)) return tes_status_exit(TES_INVALID_INPUT);
  }
  if (optind + 1 != argc) return cli_usage_error("solve takes one case file (tessera solve --help)");
  o.path = argv[optind];
  o.to_stdout = o.common.json && !strcmp(o.common.json, "-");
  if (o.to_stdout) o.common.verbosity = TES_QUIET; /* nothing but the report there */
  TesContext *ctx;
  TesStatus status = cli_context_create(&o.common, &ctx);
  if (status != TES_OK) return tes_status_exit(status);
  status = solve_run(ctx, &o);
  tes_context_destroy(&ctx);
  return tes_status_exit(status);
}
