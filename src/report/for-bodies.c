/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who asks for what: the headings of each body with the parts that answer them. What a body asks,
 * where that stands and when somebody looked: docs/report.md. No rate, threshold or price of a body
 * is in here; they change, and an offer of the plan has them with their date.
 */
#include "report/for.h"

#include "base/msg.h"

#define SECTIONS(list) list, sizeof(list) / sizeof((list)[0])

static const struct for_section generic[] = {
    {N_("What is asked for"), NULL, for_request},
    {N_("What is to be shown"), NULL, for_scope},
    {N_("Software and machine"), NULL, for_software},
    {N_("Workloads"), NULL, for_workloads},
    {N_("Trial evidence"), NULL, for_evidence},
    {N_("Formula"), NULL, for_formula},
    {N_("Memory"), NULL, for_memory},
    {N_("Scaling"), NULL, for_scaling},
    {N_("Units"), NULL, for_units},
    {N_("Storage and transfer"), NULL, for_storage},
    {N_("Calendar time"), NULL, for_calendar},
    {N_("Limits"), NULL, for_limits},
    {N_("Data protection"), NULL, for_privacy},
    {N_("Open points and assumptions"), NULL, for_open},
};

static const struct for_section rental[] = {
    {N_("What is needed, as measured"), NULL, for_needs},
    {N_("Desired period"), NULL, for_period},
    {N_("Data protection"), NULL, for_privacy},
    {N_("Open requirements"), NULL, for_open},
    {N_("Questions to the provider"), NULL, for_questions},
    {N_("Table for comparing offers"), NULL, for_table},
};

static const struct for_section neurips[] = {
    {N_("The question"),
     N_("Does the paper say, for each experiment, enough about the computer resources (type of "
        "workers, memory, time of execution) to repeat it? Whether the answer is yes, no or not "
        "applicable is the authors' to give; what is open below speaks against yes."),
     NULL},
    {N_("Type of compute workers"), NULL, for_workers},
    {N_("Memory"), NULL, for_memory},
    {N_("Storage"), NULL, for_storage},
    {N_("Time of each run"), NULL, for_run_times},
    {N_("Total compute, failed and preliminary runs included"), NULL, for_spent},
    {N_("What is open"), NULL, for_open},
};

static const struct for_section nairr[] = {
    {N_("Research and its scope"), NULL, for_scope},
    {N_("Workloads"), NULL, for_workloads},
    {N_("Pilot runs: wall time, peak memory"), NULL, for_evidence},
    {N_("Two scales and more"), NULL, for_scaling},
    {N_("Request: runs x time x GPUs"), NULL, for_formula},
    {N_("Service units at the site's current rate"), NULL, for_units},
    {N_("Storage: project, scratch, archive"), NULL, for_storage},
    {N_("Calendar time from what runs side by side"), NULL, for_calendar},
    {N_("Limits of the site"), NULL, for_limits},
    {N_("Memory and software"), NULL, for_memory},
    {N_("Cloud resources"), NULL, for_cloud},
    {N_("Open points and assumptions"), NULL, for_open},
};

static const struct for_section access_body[] = {
    {N_("Research objectives"), NULL, for_scope},
    {N_("Computational experiments"), NULL, for_workloads},
    {N_("Code performance and scaling"), NULL, for_scaling},
    {N_("Measured base"), NULL, for_evidence},
    {N_("Resource usage plan"), NULL, for_formula},
    {N_("Credits, exchanged for each resource"), NULL, for_units},
    {N_("Storage"), NULL, for_storage},
    {N_("Memory of each block"), NULL, for_memory},
    {N_("Schedule"), NULL, for_calendar},
    {N_("Limits"), NULL, for_limits},
    {N_("Open points and assumptions"), NULL, for_open},
};

static const struct for_section cscs[] = {
    {N_("Project"), NULL, for_scope},
    {N_("Code and its environment"), NULL, for_software},
    {N_("Representative run"),
     N_("The centre asks for a job report of a typical run, made there by its own tool. These runs "
        "show what is typical; they do not take its place."),
     for_evidence},
    {N_("Performance and scaling"), NULL, for_scaling},
    {N_("Justification of the node-hours"), NULL, for_formula},
    {N_("Node-hours"), NULL, for_units},
    {N_("Memory"), NULL, for_memory},
    {N_("Storage"), NULL, for_storage},
    {N_("Work schedule"), NULL, for_calendar},
    {N_("Limits"), NULL, for_limits},
    {N_("Open points and assumptions"), NULL, for_open},
};

static const struct for_section genci[] = {
    {N_("Scientific project"), NULL, for_scope},
    {N_("Software"), NULL, for_software},
    {N_("Computations planned"), NULL, for_workloads},
    {N_("Preliminary results"), NULL, for_evidence},
    {N_("Hours requested and how they follow"), NULL, for_formula},
    {N_("Normalised GPU-hours"),
     N_("The request is made in normalised hours: an hour of a device times a factor of the "
        "centre. "
        "The factor is an offer of the plan, with service_unit, rate, source and the day on which "
        "it was seen."),
     for_units},
    {N_("Memory"), NULL, for_memory},
    {N_("Scaling"), NULL, for_scaling},
    {N_("Storage"), NULL, for_storage},
    {N_("Schedule"), NULL, for_calendar},
    {N_("Limits"), NULL, for_limits},
    {N_("Open points and assumptions"), NULL, for_open},
};

static const struct for_section nhr[] = {
    {N_("Project description"), NULL, for_scope},
    {N_("Preliminary work"), NULL, for_evidence},
    {N_("Software and its requirements"), NULL, for_software},
    {N_("Computations planned"), NULL, for_workloads},
    {N_("Scaling"), NULL, for_scaling},
    {N_("Justification of the GPU-hours"), NULL, for_formula},
    {N_("GPU-hours"), NULL, for_units},
    {N_("Memory"), NULL, for_memory},
    {N_("Storage"), NULL, for_storage},
    {N_("Work schedule"), NULL, for_calendar},
    {N_("Limits"), NULL, for_limits},
    {N_("Data protection"), NULL, for_privacy},
    {N_("Open points and assumptions"), NULL, for_open},
};

const struct for_body for_bodies[] = {
    {"generic", N_("Resource justification"), SECTIONS(generic)},
    {"rental", N_("Rental brief"), SECTIONS(rental)},
    {"neurips", N_("Compute resources, for the NeurIPS paper checklist"), SECTIONS(neurips)},
    {"nairr", N_("Resource justification for NAIRR"), SECTIONS(nairr)},
    {"access", N_("Resource justification for ACCESS"), SECTIONS(access_body)},
    {"cscs", N_("Resource justification for CSCS"), SECTIONS(cscs)},
    {"genci", N_("Resource justification for GENCI"), SECTIONS(genci)},
    {"nhr", N_("Resource justification for NHR"), SECTIONS(nhr)},
    {NULL, NULL, NULL, 0},
};
